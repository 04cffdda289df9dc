// The shell as the bridge sees it: wires the bridge's methods to the session, the frames and the prompts of this page.
import { go, settingsAt, storeAddress } from '../address/view.ts';
import { addressOfCall, call, everyItem } from '../api/client.ts';
import { iconAsData, screenshotForApps } from '../apps/app-icons.ts';
import { createAskLimit } from '../apps/bridge/ask-limit.ts';
import { createCallLimit } from '../apps/bridge/call-limit.ts';
import { callMethod } from '../apps/bridge/call-method.ts';
import { createCallTurns } from '../apps/bridge/call-turns.ts';
import { isPlatformAddress } from '../apps/bridge/platform-address.ts';
import type { BridgeCaller, ShellSide } from '../apps/bridge/shell-side.ts';
import { contextOf, currentGrants, followTheme, requestedGrants } from '../apps/frames/app-context.ts';
import { keepPlace, keepState, stateOf } from '../apps/frames/kept.ts';
import {
  DEFAULT_HOME,
  findOpen,
  frontApp,
  homeApp,
  openApp,
  setAppTitle,
  startFrames,
} from '../apps/frames/open-apps.ts';
import { findApp, nameOf, readInstalledApps } from '../apps/installed-apps.ts';
import { showBar } from './bar/immersion.ts';
import { followPresses, saveForApp } from './downloads/save-for-app.ts';
import { changeHome } from './home/home-choice.ts';
import { arrangeHomeTiles, readHomeTiles } from './home/home-tiles.ts';
import { markRead } from './notifications/inbox.ts';
import { changeNotificationSettings, readNotificationSettings } from './notifications/settings.ts';
import { type Asker, prompt } from './prompts/ask.tsx';
import { askToChangeAccount, askToInvite, askToUninvite } from './prompts/ask-operator.ts';
import { askToInstall } from './prompts/ask-to-install.ts';
import { askToOpenLink } from './prompts/link-review.tsx';
import { askToPause } from './prompts/pause-review.tsx';
import { askToUninstall } from './prompts/uninstall-review.tsx';
import { openSearchFor } from './search/open-search.ts';
import { showToast } from './toasts/toasts.ts';

const askLimit = createAskLimit(() => performance.now());
const callTurns = createCallTurns();
/** Each is a request with everything that the app is found by. */
const indexLimit = createCallLimit(() => performance.now(), { calls: 10, windowMs: 10_000 });
/** Above what the SDK reports of an app that moves without pause. */
const placeLimit = createCallLimit(() => performance.now(), { calls: 50, windowMs: 10_000 });

/** As many a minute as the hub takes of an installation (`toolCallRate`). */
const toolLimit = createCallLimit(() => performance.now(), { calls: 100, windowMs: 10_000 });
/** Above what core gives a call of a tool. */
const TOOL_MS = 660_000;

function askerOf(appId: string): Asker {
  return {
    name: nameOf(appId),
    origin: findOpen(appId)?.origin ?? '',
    builtIn: findApp(appId)?.builtIn === true,
  };
}

const shellSide: ShellSide = {
  currentGrants,
  requestedGrants,
  contextOf,
  call,
  stateOf,
  keepState,
  keepPlace: (appId, place) => {
    placeLimit.count(appId);
    keepPlace(appId, place);
  },
  indexForSearch: async (appId, entries) => {
    indexLimit.count(appId);
    return call('apps.searchIndex', { params: { appId }, body: { entries: [...entries] } });
  },
  listTools: async (appId, cursor) => {
    toolLimit.count(appId);
    return call('apps.mcp.list', { params: { appId }, query: { cursor } });
  },
  callTool: async (appId, body) => {
    toolLimit.count(appId);
    return call('apps.mcp.call', { params: { appId }, body, timeoutMs: TOOL_MS });
  },
  installedApps: readInstalledApps,
  catalog: () => everyItem((cursor) => call('catalog.list', { query: { limit: 200, cursor } })),
  details: (appId, version) => call('catalog.read', { params: { appId }, query: { version: version ?? undefined } }),
  storeLink: (appId) => `${location.origin}/${storeAddress(appId)}`,
  screenshotOf: ({ appId, version, number }) =>
    screenshotForApps(addressOfCall('catalog.screenshot', { params: { appId, version, number: String(number) } })),
  iconPath: (params) => addressOfCall('catalog.versionIcon', { params }),
  iconOf: async (path) => (path === null ? null : iconAsData(path)),
  statusOf: (appId) => call('apps.status', { params: { appId } }),
  startBackend: (appId) => call('apps.start', { params: { appId }, body: {} }),
  stopBackend: (asker, appId) => call('apps.stop', { params: { appId }, body: { byApp: asker } }),
  homeTiles: readHomeTiles,
  arrangeHome: arrangeHomeTiles,
  notifications: ({ unread, ...query }) =>
    call('notifications.list', { query: { ...query, unread: unread === undefined ? undefined : String(unread) } }),
  markRead,
  markAllRead: async (topics) => (await call('notifications.readAll', { body: { topics: [...topics] } })).updated,
  notificationSettings: readNotificationSettings,
  changeNotificationSettings,
  recipient: () => import('./recipient/for-apps.ts'),
  open: openApp,
  goHome: () => go({ kind: 'home' }),
  becomeHome: changeHome,
  restoreHome: () => changeHome(DEFAULT_HOME),
  openSearch: (asker) => openSearchFor(asker, showBar),
  setTitle: setAppTitle,
  showSurface: (surface, appId) => {
    if (surface !== 'permissions' && surface !== 'logs') go(settingsAt(surface));
    else if (appId === null) go(settingsAt('apps'));
    else go(settingsAt(surface === 'logs' ? 'apps/:appId/log' : 'apps/:appId', { appId }));
  },
  ask: askLimit.ask,
  reviewInstall: (asker, appId, version) => askToInstall(appId, version, askerOf(asker)),
  reviewWithdraw: async (asker, appId, version) =>
    (await import('./prompts/withdraw-review.tsx')).askToWithdraw(appId, version, askerOf(asker)),
  reviewProposal: async (id) => (await import('./tools/proposal-review.tsx')).askAboutProposal(id),
  reviewDraft: async (asker, draftId) =>
    (await import('./drafts/ask-about-draft.ts')).askAboutDraft(draftId, askerOf(asker), asker),
  reviewUninstall: (asker, appId) => askToUninstall(appId, nameOf(appId), askerOf(asker)),
  isPlatformAddress: (asker, url) => isPlatformAddress(url, location.origin, askerOf(asker).origin),
  reviewLink: (asker, url) => askToOpenLink(url, askerOf(asker)),
  saveFile: (asker, { file, name }) => saveForApp(askerOf(asker), file, name),
  pickContact: async (asker) => (await import('./prompts/contact-pick.tsx')).askForContact(askerOf(asker)),
  pickFile: async (asker, access) => (await import('./files/file-pick.tsx')).askForFile(askerOf(asker), asker, access),
  keepFile: async (asker, name) => (await import('./files/file-keep.tsx')).askToKeep(askerOf(asker), asker, name),
  reviewWalletProposal: async (asker, id) =>
    (await import('./wallet/ask-about-proposal.ts')).askAboutWalletProposal(id, askerOf(asker)),
  saveStatement: async (asker, format) =>
    (await import('./wallet/save-statement.ts')).saveStatement(askerOf(asker), format),
  reviewPause: (asker) => askToPause(askerOf(asker)),
  reviewInvite: (asker, name) => askToInvite(name, askerOf(asker)),
  reviewUninvite: (asker, id) => askToUninvite(id, askerOf(asker)),
  reviewAccountChange: (asker, { name, change }) => askToChangeAccount(name, change, askerOf(asker)),
};

function callerOf(appId: string): BridgeCaller {
  return {
    appId,
    isSystemApp: () => findApp(appId)?.system === true,
    isHome: () => homeApp.value === appId,
    isInFront: () => frontApp.value === appId && prompt.value === null && !document.hidden,
  };
}

/** Starts to answer the frames of apps. */
export function startBridge(): void {
  startFrames({
    context: async (appId, target) => contextOf(appId, await currentGrants(appId), target),
    answer: (appId, method, params) =>
      callTurns.take(appId, () => callMethod(shellSide, callerOf(appId), method, params)),
    flooded: (appId) =>
      showToast({
        title: `${nameOf(appId)} was disconnected`,
        body: 'It sent too many messages. Close it and open it again.',
        tone: 'danger',
        urgent: true,
      }),
  });
  followTheme();
  followPresses();
}
