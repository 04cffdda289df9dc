// The methods of the bridge: for each its parameters, the grant and target it is checked against, and what it does.
// The rules are recorded in packages/shell/README.md.
import {
  type BridgeCall,
  type BridgeCalls,
  bridgeMethods,
  type Grant,
  type PermissionId,
  type WorkloadStatus,
} from '@platform/contract';
import { covers, holds, resourcesOf } from './grants.ts';
import {
  appIdText,
  cursorText,
  notificationIdText,
  oneOf,
  optional,
  queryText,
  readParams,
  targetText,
  titleText,
  topicText,
  truth,
  versionText,
  wholeNumber,
} from './params.ts';
import { BridgeRefusal } from './refusal.ts';
import type { BridgeCaller, ShellSide } from './shell-side.ts';
import { findVisible, listVisible, markAllVisible } from './visible-notifications.ts';

interface Call {
  readonly shell: ShellSide;
  readonly caller: BridgeCaller;
  readonly params: unknown;
}

type Method = (call: Call) => Promise<unknown> | unknown;

const SURFACES = ['permissions', 'passkeys', 'sessions', 'logs', 'notifications'] as const;

function result<Name extends BridgeCall>(value: BridgeCalls[Name]['result']): BridgeCalls[Name]['result'] {
  return value;
}

async function grantsFor({ shell, caller }: Call, id: PermissionId): Promise<readonly Grant[]> {
  const grants = await shell.currentGrants(caller.appId);
  if (!holds(grants, id)) throw new BridgeRefusal('grant_missing', `This app has no grant for ${id}.`);
  return grants;
}

/** @throws BridgeRefusal `grant_missing` when the current snapshot does not cover exactly this target */
async function requireTarget(call: Call, id: PermissionId, target: string): Promise<void> {
  const grants = await grantsFor(call, id);
  if (!covers(grants, id, target)) {
    throw new BridgeRefusal('grant_missing', `The grant for ${id} of this app does not cover ${target}.`);
  }
}

/** What silences other apps is for the platform's own Notifications app alone, while it may read everything. */
async function requireNotificationsApp(call: Call): Promise<void> {
  if (call.caller.appId !== 'notifications' || !call.caller.isSystemApp()) {
    throw new BridgeRefusal('not_authorized', 'Only the platform’s own Notifications app may do this.');
  }
  await requireTarget(call, 'notifications.read', '*');
}

/** What moves the person's view or puts a question before them is only for the app they are looking at. */
function requireInFront({ caller }: Call): void {
  if (!caller.isInFront()) {
    throw new BridgeRefusal('not_authorized', 'Only the app in front may do this.');
  }
}

const methods: Record<BridgeCall, Method> = {
  'context.get': async (call) => {
    readParams({}, call.params);
    const grants = await call.shell.currentGrants(call.caller.appId);
    return result<'context.get'>(call.shell.contextOf(call.caller.appId, grants));
  },

  // The shell acts with the session, which publishes nothing: a record must carry the app that really sent it.
  'notifications.publish': () => {
    throw new BridgeRefusal(
      'unavailable',
      'The bridge does not publish: use app.notifications().publish(), which sends with the app’s own capability.',
    );
  },
  'notifications.list': async (call) => {
    const query = readParams(
      {
        topic: optional(topicText),
        unread: optional(truth()),
        limit: optional(wholeNumber(1, 200)),
        cursor: optional(cursorText),
      },
      call.params,
    );
    const topics = resourcesOf(await grantsFor(call, 'notifications.read'), 'notifications.read');
    return result<'notifications.list'>(await listVisible(call.shell, topics, { limit: 50, ...query }));
  },
  'notifications.read': async (call) => {
    const { id } = readParams({ id: notificationIdText }, call.params);
    const topics = resourcesOf(await grantsFor(call, 'notifications.read'), 'notifications.read');
    if (!(await findVisible(call.shell, topics, id))) {
      throw new BridgeRefusal('not_found', 'There is no such notification among those this app may read.');
    }
    return result<'notifications.read'>({ notification: await call.shell.markRead(id) });
  },
  'notifications.readAll': async (call) => {
    readParams({}, call.params);
    const topics = resourcesOf(await grantsFor(call, 'notifications.read'), 'notifications.read');
    return result<'notifications.readAll'>({ updated: await markAllVisible(call.shell, topics) });
  },
  'notifications.settings': async (call) => {
    readParams({}, call.params);
    await requireNotificationsApp(call);
    return result<'notifications.settings'>(await call.shell.notificationSettings());
  },
  'notifications.mute': async (call) => {
    const { appId, topic, muted } = readParams(
      { appId: appIdText, topic: optional(topicText), muted: truth() },
      call.params,
    );
    await requireNotificationsApp(call);
    requireInFront(call);
    const mute = { appId, topic: topic ?? null };
    // Only this entry, so that two mutes at once both count.
    const change = muted ? { mute: [mute] } : { unmute: [mute] };
    return result<'notifications.mute'>(await call.shell.changeNotificationSettings(change));
  },
  'notifications.surfaces': async (call) => {
    const change = readParams(
      { flashes: optional(truth()), system: optional(truth()), webPush: optional(truth()) },
      call.params,
    );
    await requireNotificationsApp(call);
    requireInFront(call);
    return result<'notifications.surfaces'>(await call.shell.changeNotificationSettings(change));
  },

  'apps.list': async (call) => {
    const { scope } = readParams({ scope: optional(oneOf(['installed', 'catalog'])) }, call.params);
    const grants = await grantsFor(call, scope === 'catalog' ? 'apps.install' : 'apps.catalog.read');
    const items =
      scope === 'catalog'
        ? (await call.shell.catalog()).filter((entry) => covers(grants, 'apps.install', entry.appId))
        : (await call.shell.installedApps()).filter((app) => covers(grants, 'apps.catalog.read', app.appId));
    const icons = await Promise.all(items.map((item) => call.shell.iconOf(item.icon)));
    return result<'apps.list'>({ items: items.map((item, index) => ({ ...item, icon: icons[index] ?? null })) });
  },
  'apps.open': async (call) => {
    const { appId, target } = readParams({ appId: appIdText, target: optional(targetText) }, call.params);
    await requireTarget(call, 'apps.lifecycle', appId);
    requireInFront(call);
    await requireInstalled(call, appId);
    call.shell.open(appId, target ?? null);
    return result<'apps.open'>(null);
  },
  'apps.start': async (call) => {
    const { appId } = readParams({ appId: appIdText }, call.params);
    await requireTarget(call, 'apps.lifecycle', appId);
    return result<'apps.start'>(onlyStatus(await call.shell.startBackend(appId)));
  },
  'apps.stop': async (call) => {
    const { appId } = readParams({ appId: appIdText }, call.params);
    await requireTarget(call, 'apps.lifecycle', appId);
    return result<'apps.stop'>(onlyStatus(await call.shell.stopBackend(appId)));
  },
  'apps.return': async (call) => {
    readParams({}, call.params);
    await requireTarget(call, 'apps.lifecycle', call.caller.appId);
    requireInFront(call);
    call.shell.goHome();
    return result<'apps.return'>(null);
  },
  'apps.requestInstall': async (call) => {
    const { appId, version } = readParams({ appId: appIdText, version: optional(versionText) }, call.params);
    await requireTarget(call, 'apps.install', appId);
    requireInFront(call);
    return result<'apps.requestInstall'>({
      installed: await call.shell.reviewInstall(call.caller.appId, appId, version ?? null),
    });
  },
  'apps.uninstall': async (call) => {
    const { appId } = readParams({ appId: appIdText }, call.params);
    await requireTarget(call, 'apps.uninstall', appId);
    requireInFront(call);
    await requireInstalled(call, appId);
    return result<'apps.uninstall'>({ removed: await call.shell.reviewUninstall(call.caller.appId, appId) });
  },

  'launcher.register': async (call) => {
    readParams({}, call.params);
    await requireTarget(call, 'apps.launcher.register', 'self');
    requireInFront(call);
    call.shell.becomeHome(call.caller.appId);
    return result<'launcher.register'>(null);
  },
  'runtime.status': async (call) => {
    const { appId } = readParams({ appId: optional(appIdText) }, call.params);
    const grants = await grantsFor(call, 'runtime.status.read');
    const apps = (await call.shell.installedApps()).filter(
      (app) =>
        app.hasWorkload &&
        covers(grants, 'runtime.status.read', app.appId) &&
        (appId === undefined || app.appId === appId),
    );
    if (appId !== undefined && apps.length === 0) throw new BridgeRefusal('not_found', 'There is no such app here.');
    const items = await Promise.all(
      apps.map(async (app) => ({ appId: app.appId, status: onlyStatus(await call.shell.statusOf(app.appId)) })),
    );
    return result<'runtime.status'>({ items });
  },
  'runtime.pause': async (call) => {
    readParams({}, call.params);
    await requireTarget(call, 'runtime.pause', '*');
    requireInFront(call);
    return result<'runtime.pause'>({ paused: await call.shell.reviewPause(call.caller.appId) });
  },
  // Search shows what every app indexed, so seeing which apps exist is not enough: it belongs to the home screen.
  'search.query': async (call) => {
    const { q, limit } = readParams({ q: queryText, limit: optional(wholeNumber(1, 200)) }, call.params);
    await requireTarget(call, 'apps.launcher.register', 'self');
    if (!call.caller.isHome()) throw new BridgeRefusal('not_authorized', 'Only the home screen may search for you.');
    return result<'search.query'>(await call.shell.search(q, limit ?? 20));
  },
  'chrome.set': async (call) => {
    const { title, surface, appId } = readParams(
      { title: optional(titleText), surface: optional(oneOf(SURFACES)), appId: optional(appIdText) },
      call.params,
    );
    if (surface !== undefined) {
      const isOfCaller = call.caller.appId === 'settings' || call.caller.appId === surface;
      if (!isOfCaller || !call.caller.isSystemApp()) {
        throw new BridgeRefusal('not_authorized', 'Only the platform’s own Settings app may open its surfaces.');
      }
      requireInFront(call);
      if (appId !== undefined) await requireInstalled(call, appId);
      if (surface === 'logs' && appId === undefined) {
        throw new BridgeRefusal('invalid_request', '`appId` names the app whose log is shown.');
      }
      call.shell.showSurface(surface, appId ?? null);
    }
    if (title !== undefined) call.shell.setTitle(call.caller.appId, title);
    return result<'chrome.set'>(null);
  },
};

async function requireInstalled({ shell }: Call, appId: string): Promise<void> {
  const apps = await shell.installedApps();
  if (!apps.some((app) => app.appId === appId)) throw new BridgeRefusal('not_found', 'This app is not installed.');
}

function isAnswered(method: string): method is BridgeCall {
  return Object.hasOwn(methods, method);
}

/**
 * Answers one call of an app.
 *
 * @throws BridgeRefusal for everything an app can cause; errors of core pass through with their own code
 */
export async function callMethod(
  shell: ShellSide,
  caller: BridgeCaller,
  method: string,
  params: unknown,
): Promise<unknown> {
  if (isAnswered(method)) return await methods[method]({ shell, caller, params });
  if (bridgeMethods.some((known) => known === method)) {
    throw new BridgeRefusal('unavailable', `This version of the platform does not offer ${method} yet.`);
  }
  throw new BridgeRefusal('not_found', 'The bridge has no such method.');
}

/** What a grant shows of another app: whether it runs. What it uses and carries is its owner's business. */
function onlyStatus({ state, since, reason, restarts }: WorkloadStatus): WorkloadStatus {
  return { state, since, restarts, ...(reason === undefined ? {} : { reason }) };
}
