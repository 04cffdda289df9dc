// What is tried out with `platform dev` is an app beside the published one, with data and versions of its own.

const LONGEST_ID = 40;
const DEV_VERSION = /[-.]dev\.\d+$/;

/** `notes` becomes `notes-dev`. */
export function devId(id: string): string {
  return `${id.slice(0, LONGEST_ID - '-dev'.length).replace(/-$/, '')}-dev`;
}

/** Below the version it is made from, above all that was made before: `1.2.0` becomes `1.2.0-dev.1763719042123`. */
export function devVersion(version: string, now: Date): string {
  const [release = version] = version.split('+', 1);
  return `${release}${release.includes('-') ? '.' : '-'}dev.${now.getTime()}`;
}

/** Whether this is what {@link devId} and {@link devVersion} make. */
export function isDevVersion(id: string, version: string): boolean {
  return id.endsWith('-dev') && DEV_VERSION.test(version);
}
