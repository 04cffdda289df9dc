// What this page keeps of the signed-in account's apps while they are not loaded.
import type { InstalledApp } from '@platform/contract';
import { BridgeRefusal } from '../bridge/refusal.ts';
import { findApp } from '../installed-apps.ts';
import { forgetKept, type Installation, type KeptApps, keepApps } from './kept-apps.ts';

let kept: KeptApps | null = null;

export function keepFor(account: string): void {
  kept = keepApps(sessionStorage, account);
}

/** The account signed out, or its session ended. */
export function forgetAll(): void {
  kept = null;
  forgetKept(sessionStorage);
}

export function keepInstalled(installed: readonly InstalledApp[]): void {
  kept?.keepOnly(installed);
}

export function placeOf(appId: string): string | null {
  return withInstallation(appId, (app, from) => from.placeOf(app));
}

/** @throws BridgeRefusal `unavailable` */
export function keepPlace(appId: string, place: string): void {
  withInstallation(appId, (app, to) => attempt(() => to.keepPlace(app, place)));
}

export function forgetPlace(appId: string): void {
  withInstallation(appId, (app, from) => from.keepPlace(app, null));
}

export function stateOf(appId: string): string | null {
  return withInstallation(appId, (app, from) => from.stateOf(app));
}

/** @throws BridgeRefusal `unavailable` */
export function keepState(appId: string, json: string | null): void {
  withInstallation(appId, (app, to) => attempt(() => to.keepState(app, json)));
}

/** The data of the app is deleted. */
export function forgetApp(appId: string): void {
  withInstallation(appId, (app, from) => {
    from.keepPlace(app, null);
    from.keepState(app, null);
  });
}

function withInstallation<Value>(appId: string, act: (app: Installation, from: KeptApps) => Value): Value | null {
  const app = findApp(appId);
  return app === undefined || kept === null ? null : act(app, kept);
}

function attempt(write: () => void): void {
  try {
    write();
  } catch {
    throw new BridgeRefusal('unavailable', 'This browser has no room to keep anything for this app.');
  }
}
