// What the app in front learns without asking: its context, and news of what its grants cover.
import type { BridgeContext, Grant, Notification } from '@platform/contract';
import { effect, untracked } from '@preact/signals';
import { call } from '../../api/client.ts';
import { theme } from '../../design/theme.ts';
import { session } from '../../session/session.ts';
import { covers, holds } from '../bridge/grants.ts';
import { findOpen, sendToFront } from './open-apps.ts';

const readingGrants = new Map<string, Promise<readonly Grant[]>>();
/** The last snapshot read: decides which apps receive events. Calls of an app always read the grants from core. */
const lastGrants = new Map<string, readonly Grant[]>();

/** Asks core every time, so that a revoked grant stops the next call; calls at the same moment share one question. */
export function currentGrants(appId: string): Promise<readonly Grant[]> {
  const reading =
    readingGrants.get(appId) ??
    call('apps.permissions.read', { params: { appId } })
      .then(({ permissions }) => {
        lastGrants.set(appId, permissions);
        return permissions;
      })
      .finally(() => readingGrants.delete(appId));
  readingGrants.set(appId, reading);
  return reading;
}

/** What the installed version requests; asked only for a refusal. */
export async function requestedGrants(appId: string): Promise<readonly Grant[]> {
  return (await call('apps.permissions.read', { params: { appId } })).requested;
}

export function contextOf(appId: string, grants: readonly Grant[], target: string | null = null): BridgeContext {
  const state = session.value;
  const showsName = state.kind === 'signed-in' && covers(grants, 'account.profile.read', 'self');
  return {
    appId,
    theme: theme.value,
    displayMode: findOpen(appId)?.chrome === 'never' ? 'immersive' : 'window',
    capabilities: grants,
    ...(showsName ? { accountName: state.account.name } : {}),
    ...(target === null ? {} : { target }),
  };
}

/** Sends an app its new grants after the person changed them; one that is not loaded reads them when it comes back. */
export function grantsChanged(appId: string, grants: readonly Grant[]): void {
  lastGrants.set(appId, grants);
  sendToFront((candidate) => (candidate === appId ? { event: 'context', data: contextOf(appId, grants) } : null));
}

/** Notifies the app in front, if it may see installed apps, that the list changed. */
export function sendAppsChanged(): void {
  sendToFront((appId) =>
    holds(lastGrants.get(appId) ?? [], 'apps.catalog.read') ? { event: 'apps', data: {} } : null,
  );
}

/** Has the Wallet, if it is in front, read everything anew. */
export function sendWalletChanged(): void {
  sendToFront((appId) =>
    appId === 'wallet' ? { event: 'context', data: contextOf(appId, lastGrants.get(appId) ?? []) } : null,
  );
}

/** Passes a new record to the app in front, if its grant covers the topic. */
export function sendNotification(notification: Notification): void {
  sendToFront((appId) =>
    covers(lastGrants.get(appId) ?? [], 'notifications.read', notification.topic)
      ? { event: 'notification', data: { notification } }
      : null,
  );
}

/** Tells the app in front when the colours change. */
export function followTheme(): void {
  effect(() => {
    void theme.value;
    untracked(() =>
      sendToFront((appId) => ({ event: 'context', data: contextOf(appId, lastGrants.get(appId) ?? []) })),
    );
  });
}
