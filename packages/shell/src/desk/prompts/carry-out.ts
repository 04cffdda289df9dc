// Does what the person approved, for the review that is open.
import { plainMessage } from '../../api/api-error.ts';
import { forgetIcons } from '../../apps/app-icons.ts';
import { refreshInstalledApps } from '../../apps/installed-apps.ts';
import { carriedOut } from './ask.tsx';

/** Unpacking and, for an app that is always on, its first start may take their time. */
export const INSTALL_TIMEOUT_MS = 180_000;

/** @returns `null` when it worked, else what went wrong */
export async function carryOut(change: () => Promise<unknown>): Promise<string | null> {
  try {
    await change();
    carriedOut.value = true;
    return null;
  } catch (error) {
    return plainMessage(error);
  }
}

/** Does what changes the installed apps, and reads their list anew. @returns `null` when it worked, else what went wrong */
export function carryOutOnApps(change: () => Promise<unknown>): Promise<string | null> {
  return carryOut(async () => {
    await change();
    forgetIcons();
    await refreshInstalledApps();
  });
}
