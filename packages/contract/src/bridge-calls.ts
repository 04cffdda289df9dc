// Parameters and results of the bridge methods, typed once for the shell that answers and the SDK that asks (contract 5).
import type { BackendStatus, BridgeContext } from './bridge.ts';
import type { CatalogDetail, CatalogEntry } from './domains/catalog.ts';
import type { HomeTiles } from './domains/home.ts';
import type { InstalledApp } from './domains/installations.ts';
import type { Notification, NotificationSettings } from './domains/notifications.ts';
import type { Invitation } from './domains/operator.ts';
import type { SearchResult } from './domains/search.ts';
import type { WorkloadStatus } from './domains/workloads.ts';

interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

/** What the page of an app in the Store shows; `link` is the address of that page, which finds unlisted apps too. */
export type AppDetails = CatalogDetail & { readonly link: string };

/** Trusted surfaces of the shell that an app may ask to be shown; the shell draws them, the app sees nothing of them. */
export type ShellSurface = 'permissions' | 'passkeys' | 'sessions' | 'logs' | 'notifications' | 'storage' | 'ai';

/** What the operator can do to an account. */
export type AccountChange = 'suspend' | 'resume' | 'plan-free' | 'plan-paid' | 'plan-default' | 'delete';

/** Who may register: everybody, people with an invitation, nobody. */
export type Registration = 'open' | 'invite' | 'closed';

/** Every method of the bridge. `asks` marks one that waits for a person, however long they take. */
export interface BridgeCalls {
  /** With `runtime.status.read` also `runtime`, which the contexts that the shell sends by itself do not have. */
  'context.get': { params: undefined; result: BridgeContext };
  /** What this app kept with `state.set`, as JSON text; `null` when there is nothing. */
  'state.get': { params: undefined; result: { readonly json: string | null } };
  /** JSON text of at most 64 KiB, kept for this installation while the session lasts in this tab; `null` removes it. */
  'state.set': { params: { readonly json: string }; result: null };
  /**
   * Where the app is: path, query and fragment of its page, at most 2,048 characters. The shell opens it there when the
   * person comes back to it.
   */
  'place.set': { params: { readonly place: string }; result: null };
  /** Each with the app's own grants, like the service routes of the same name. */
  'notifications.list': {
    params: {
      readonly topic?: string;
      readonly unread?: boolean;
      readonly limit?: number;
      readonly cursor?: string;
    };
    result: Page<Notification>;
  };
  'notifications.read': { params: { readonly id: string }; result: { readonly notification: Notification } };
  'notifications.readAll': { params: undefined; result: { readonly updated: number } };
  /** These three only for the platform's own Notifications app, with `notifications.read` on `*`. */
  'notifications.settings': { params: undefined; result: NotificationSettings };
  /** Without `topic` the whole app; `muted` false takes back exactly this entry. */
  'notifications.mute': {
    params: { readonly appId: string; readonly topic?: string; readonly muted: boolean };
    result: NotificationSettings;
  };
  /** What is named changes. */
  'notifications.surfaces': {
    params: { readonly flashes?: boolean; readonly system?: boolean; readonly webPush?: boolean };
    result: NotificationSettings;
  };
  /** Grant `apps.catalog.read`. The scope is `installed` when absent. */
  'apps.list': {
    params: { readonly scope?: 'installed' | 'catalog' };
    result: { readonly items: readonly (InstalledApp | CatalogEntry)[] };
  };
  /** Grant `apps.install` on the app. `version` is the newest when absent. */
  'apps.details': {
    params: { readonly appId: string; readonly version?: string };
    result: AppDetails;
  };
  /** Grant `apps.install` on the app. A `data:` address; `number` counts from 1. `null` when it could not be read. */
  'apps.screenshot': {
    params: { readonly appId: string; readonly version: string; readonly number: number };
    result: { readonly picture: string | null };
  };
  /** Grant `apps.lifecycle` on the app. `target` is a query string that starts with `?`. */
  'apps.open': { params: { readonly appId: string; readonly target?: string }; result: null };
  'apps.start': { params: { readonly appId: string }; result: WorkloadStatus };
  'apps.stop': { params: { readonly appId: string }; result: WorkloadStatus };
  /** Back to Home. */
  'apps.return': { params: undefined; result: null };
  /** Grant `apps.install` on the app. The shell shows its own review; `installed` is false when the person declined. */
  'apps.requestInstall': {
    params: { readonly appId: string; readonly version?: string };
    result: { readonly installed: boolean };
    asks: true;
  };
  /**
   * Only for the platform's own Store, with `apps.install`: the publisher deletes a version. `withdrawn` is false when they
   * declined.
   */
  'apps.withdraw': {
    params: { readonly appId: string; readonly version: string };
    result: { readonly withdrawn: boolean };
    asks: true;
  };
  /**
   * Grant `apps.uninstall` on the app. Launcher, Store and Settings: only the platform's own Settings. `removed` is false when the person
   * declined.
   */
  'apps.uninstall': { params: { readonly appId: string }; result: { readonly removed: boolean }; asks: true };
  /** Grant `apps.launcher.register` on `self`: this app becomes the account's home screen. */
  'launcher.register': { params: undefined; result: null };
  /** Grant `apps.launcher.register`: Launcher becomes the home screen again, whichever app is. */
  'launcher.restore': { params: undefined; result: null };
  /** Only for the home screen, with `apps.launcher.register`: how the person arranged the tiles. */
  'launcher.tiles': { params: undefined; result: HomeTiles };
  /**
   * Only for the home screen, with `apps.launcher.register`: arranges the tiles, for all devices of the account. Apps that are not
   * installed keep their place. The answer is what is kept.
   */
  'launcher.arrange': { params: HomeTiles; result: HomeTiles };
  /** Grant `runtime.status.read`. Without `appId` every installed app that has a backend. */
  'runtime.status': {
    params: { readonly appId?: string };
    result: { readonly items: readonly BackendStatus[] };
  };
  /**
   * Grant `runtime.pause`. The shell asks the person; `paused` is false when they declined. When they agreed, every
   * frame closes, this one too, and only the shell's own paused surface resumes.
   */
  'runtime.pause': { params: undefined; result: { readonly paused: boolean }; asks: true };
  /**
   * These four only for the platform's own Fleet, with `system.inventory.read` on `*`; core refuses every account but the
   * master account. Invitations that wait to be used, the newest first.
   */
  'system.invitations': {
    params: { readonly limit?: number; readonly cursor?: string };
    result: Page<Invitation> & { readonly registration: Registration };
  };
  /** The shell shows the link to the person alone. `invited` is false when they declined. */
  'system.invite': { params: { readonly name?: string }; result: { readonly invited: boolean }; asks: true };
  /** `revoked` is false when they declined. */
  'system.uninvite': { params: { readonly id: string }; result: { readonly revoked: boolean }; asks: true };
  /** A deletion is confirmed with a passkey. `changed` is false when they declined. */
  'system.changeAccount': {
    params: { readonly name: string; readonly change: AccountChange };
    result: { readonly changed: boolean };
    asks: true;
  };
  /** Only for the home screen, with `apps.launcher.register`: the answer shows what every app indexed. */
  'search.query': { params: { readonly q: string; readonly limit?: number }; result: SearchResult };
  /**
   * Every app may ask. The shell shows the whole address and opens it in a new tab; `opened` is false when the person
   * declined. `https` only, without a user name, and no address of the platform: apps are opened with `apps.open`.
   */
  'links.open': { params: { readonly url: string }; result: { readonly opened: boolean }; asks: true };
  /** The title beside the app's name, or one of the shell's trusted surfaces (`appId` names the app it is about). */
  'chrome.set': {
    params: { readonly title?: string; readonly surface?: ShellSurface; readonly appId?: string };
    result: null;
  };
}

export type BridgeCall = keyof BridgeCalls;
/** The methods that put a question before a person. */
export type AskingBridgeCall = {
  [Name in BridgeCall]: BridgeCalls[Name] extends { asks: true } ? Name : never;
}[BridgeCall];

/** What the shell sends the frame unasked. */
export interface BridgeEvents {
  /** The whole context again: the theme, the display mode or the grants changed. */
  context: BridgeContext;
  /** A search result or notification action of this app was opened while it was already open. */
  target: { readonly target: string };
  /** The installed apps changed; only with `apps.catalog.read`. */
  apps: Readonly<Record<string, never>>;
  /** A new notification that the app's `notifications.read` covers. */
  notification: { readonly notification: Notification };
}
