// Apps of the platform that a person needs to see and install others. Only the person removes them, in Settings, and the
// shell offers them again wherever they are missing.

export interface EssentialApp {
  readonly appId: string;
  readonly name: string;
  /** What is missing once it is removed. */
  readonly without: string;
}

export const ESSENTIAL_APPS: readonly EssentialApp[] = [
  {
    appId: 'launcher',
    name: 'Launcher',
    without: 'Without Launcher, Home is a plain list of your apps.',
  },
  { appId: 'store', name: 'Store', without: 'Without Store, you can’t find, install or look up apps.' },
  {
    appId: 'settings',
    name: 'Settings',
    without: 'Without Settings, its tile is gone from Home. The pages stay in the account menu.',
  },
];

export function essentialApp(appId: string): EssentialApp | undefined {
  return ESSENTIAL_APPS.find((app) => app.appId === appId);
}
