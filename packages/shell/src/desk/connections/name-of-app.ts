// An app as its person knows it.
import { installedApps } from '../../apps/installed-apps.ts';

/** Its id for one that is not installed. */
export function nameOfApp(appId: string): string {
  return installedApps.value?.find((app) => app.appId === appId)?.name ?? appId;
}
