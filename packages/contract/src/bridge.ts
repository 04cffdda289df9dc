// The shell bridge, version 1 (contract 5): messages between an app frame and the trusted shell.

import type { BridgeCall } from './bridge-calls.ts';
import type { Grant } from './domains/grants.ts';
import type { WorkloadStatus } from './domains/workloads.ts';
import type { ErrorCode } from './errors.ts';

/**
 * What documents of an app may do, in the frame of the shell and by their headers. No windows: links leave through the shell
 * (bridge method `links.open`), which asks. No `allow-modals`: what is typed into a `prompt()` is given to the app, and a dialog
 * opens while the person types into the shell. No `allow-downloads`: the shell saves files (`downloads.save`), at a press. No
 * `allow-pointer-lock` either.
 */
export const FRAME_SANDBOX = 'allow-scripts allow-same-origin allow-forms';

export const BRIDGE_VERSION = 1;

/** What an app may leave with the shell. */
export const BRIDGE_LIMITS = {
  /** Of `state.set`: UTF-8 bytes of the JSON text. */
  stateBytes: 64 * 1024,
  /** Of `place.set`: characters of path, query and fragment together. */
  placeCharacters: 2_048,
  /** Of `search.index`: entries, and characters of all of them together. */
  searchIndex: { entries: 1_000, characters: 500_000 },
} as const;

/** What a launch address has in its fragment before the launch data, which are base64url. */
export const LAUNCH_MARK = '#platform=';
/** Between the launch data and the fragment of the place at which the app is launched, if that has one. */
export const LAUNCH_PLACE_MARK = '&';

/** Methods of contract 5 that are not there yet: the shell refuses them with `unavailable`. */
export const laterBridgeMethods = ['schedules.list'] as const;

/** First message of the frame to its parent. */
export interface BridgeHello {
  readonly type: 'platform.hello';
  readonly version: typeof BRIDGE_VERSION;
  readonly nonce: string;
}

/**
 * A document without launch data asks the shell for some: after a reload, or on another page of the app. It goes to
 * any parent, so it holds nothing.
 */
export interface BridgeLaunchRequest {
  readonly type: 'platform.launch';
  readonly version: typeof BRIDGE_VERSION;
  readonly nonce: string;
}

/** The answer, to the app's exact origin: what a launch address carries. */
export interface BridgeLaunched {
  readonly type: 'platform.launched';
  readonly version: typeof BRIDGE_VERSION;
  readonly nonce: string;
  /** Begins with `LAUNCH_MARK`. */
  readonly fragment: string;
}

/** The state of one app's backend. */
export interface BackendStatus {
  readonly appId: string;
  readonly status: WorkloadStatus;
}

export interface BridgeContext {
  readonly appId: string;
  readonly theme: 'light' | 'dark';
  readonly displayMode: 'window' | 'immersive';
  /** The installation's grant snapshot. */
  readonly capabilities: readonly Grant[];
  /** Only with the grant `account.profile.read`. */
  readonly accountName?: string;
  /**
   * Only in the answer to `context.get`, and with the grant `runtime.status.read`: installed apps with a backend whose
   * state could be read.
   */
  readonly runtime?: readonly BackendStatus[];
  /** The query part of a notification action or search result that opened the app. */
  readonly target?: string;
}

/** The shell's answer; transfers exactly one MessagePort. */
export interface BridgeWelcome {
  readonly type: 'platform.welcome';
  readonly version: typeof BRIDGE_VERSION;
  readonly nonce: string;
  readonly context: BridgeContext;
}

export interface BridgeRequest {
  readonly id: number;
  readonly method: BridgeCall | (typeof laterBridgeMethods)[number];
  readonly params?: unknown;
}

export type BridgeResponse =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: { readonly code: ErrorCode; readonly message: string } };

export interface BridgeEvent {
  /** `context`: read it anew; `notification`: a record came; `target`: show this place; `apps`: list the apps anew. */
  readonly event: 'context' | 'notification' | 'target' | 'apps';
  readonly data: unknown;
}
