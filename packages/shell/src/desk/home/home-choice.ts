// Which app is the home screen. An app with the grant may take the place; the person can always take it back. Core keeps
// the choice for the account.
import { plainMessage } from '../../api/api-error.ts';
import { call } from '../../api/client.ts';
import { DEFAULT_HOME, homeApp } from '../../apps/frames/open-apps.ts';
import { nameOf, refreshInstalledApps } from '../../apps/installed-apps.ts';
import { showToast } from '../toasts/toasts.ts';

/** @throws ApiError */
export async function setHome(appId: string): Promise<void> {
  if (appId === DEFAULT_HOME) await call('launcher.restore');
  else await call('launcher.choose', { body: { appId } });
  await refreshInstalledApps();
}

/** An app asked for another home screen, itself or Launcher; the message offers the way back. @throws ApiError */
export async function changeHome(appId: string): Promise<void> {
  const former = homeApp.value;
  if (former === appId) return;
  await setHome(appId);
  showToast({
    title: `${nameOf(appId)} is now your home screen`,
    urgent: true,
    action: { label: `Keep ${nameOf(former)}`, run: () => void keepHome(former) },
  });
}

async function keepHome(appId: string): Promise<void> {
  try {
    await setHome(appId);
  } catch (error) {
    showToast({ title: 'Your home screen did not change', body: plainMessage(error), tone: 'danger' });
  }
}
