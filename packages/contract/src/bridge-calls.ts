// Parameters and results of the bridge methods, typed once for the shell that answers and the SDK that asks (contract 5).
// Here are those of the shell itself; the file of each domain adds its own to `BridgeCalls`. A docstring says who may call.
import type { BridgeContext } from './bridge.ts';
import type { Notification } from './domains/notifications.ts';

/** A part of a list; `nextCursor` gets the next one and is `null` in the last. */
export interface BridgePage<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

/** Trusted surfaces of the shell that an app may ask to be shown; the shell draws them, the app sees nothing of them. */
export type ShellSurface =
  | 'permissions'
  | 'passkeys'
  | 'sessions'
  | 'logs'
  | 'notifications'
  | 'storage'
  | 'ai'
  | 'platform';

/** Every method of the bridge. `asks` marks one that waits for a person, however long they take. */
export interface BridgeCalls {
  /**
   * Every app may ask. The name of the account only with `account.profile.read`; `runtime` only with `runtime.status.read`, and
   * not in the contexts that the shell sends by itself.
   */
  'context.get': { params: undefined; result: BridgeContext };
  /** What this app kept with `state.set`, as JSON text; `null` when there is nothing. */
  'state.get': { params: undefined; result: { readonly json: string | null } };
  /** JSON text of at most 64 KiB, kept for this installation while the session lasts in this tab; `null` removes it. */
  'state.set': { params: { readonly json: string }; result: null };
  /**
   * Where the app is: path, query and fragment of its page, at most 2,048 characters. The shell opens it there when the
   * person comes back to it. At most 50 times in ten seconds.
   */
  'place.set': { params: { readonly place: string }; result: null };
  /**
   * Every app in front of a visible page may ask. The shell shows the whole address and opens it in a new tab, without opener
   * and referrer; `opened` is false when the person
   * declined. `https` only, without a user name, and no address of the platform: apps are opened with `apps.open`.
   */
  'links.open': { params: { readonly url: string }; result: { readonly opened: boolean }; asks: true };
  /**
   * Every app in front of a visible page may ask. The shell saves the file on the person's device: at once if they have just pressed
   * something in the app, and otherwise after a question; `saved` is false when they declined. `name` has 1 to 200 characters in one
   * line, without slashes.
   */
  'downloads.save': {
    params: { readonly file: Blob; readonly name: string };
    result: { readonly saved: boolean };
    asks: true;
  };
  /**
   * The title beside the app's name, for every app; or one of the shell's trusted surfaces (`appId` names the app it is about), only
   * for the platform's own Settings in front, for Notifications its own, for Fleet `platform`, and for Personal Agent `ai`.
   */
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
