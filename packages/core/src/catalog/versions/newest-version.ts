// Which version of an app is the newest: the highest by precedence (SemVer 2.0.0, section 11); a pre-release only
// while there is nothing else.
import * as semver from 'semver';

/** Highest first, releases before pre-releases. Build metadata decides only between otherwise equal versions. */
export function compareVersions(a: string, b: string): number {
  const preA = semver.prerelease(a) !== null;
  const preB = semver.prerelease(b) !== null;
  if (preA !== preB) return preA ? 1 : -1;
  return semver.compareBuild(b, a);
}

/** @throws TypeError when there is none */
export function newestVersion(versions: readonly string[]): string {
  return versions.reduce((newest, other) => (compareVersions(other, newest) < 0 ? other : newest));
}
