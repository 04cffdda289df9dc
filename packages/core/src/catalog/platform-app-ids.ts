// The apps that come with the platform. No account can claim their ids, also while one of them is not published.

/** Every account has them from its beginning. */
export const defaultAppIds = [
  'launcher',
  'store',
  'settings',
  'wallet',
  'contacts',
  'messages',
  'files',
  'agent',
  'notifications',
  'schedules',
] as const;

/** The home screen until the account chooses another. */
export const DEFAULT_LAUNCHER = 'launcher' satisfies (typeof defaultAppIds)[number];

/** They are for the master account alone. */
export const masterAppIds: readonly string[] = ['fleet'];

/** The parts of the platform that are apps. */
export const builtInAppIds: readonly string[] = [...defaultAppIds, ...masterAppIds];

const reserved: ReadonlySet<string> = new Set(builtInAppIds);

/** Whether the id belongs to an app of the platform itself, so that nobody else publishes under it. */
export function isPlatformAppId(appId: string): boolean {
  return reserved.has(appId);
}
