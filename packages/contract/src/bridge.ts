// The shell bridge, version 1 (contract 5): messages between an app frame and the trusted shell.

import type { Grant } from './domains/grants.ts';
import type { ErrorCode } from './errors.ts';

export const BRIDGE_VERSION = 1;

export const bridgeMethods = [
  'context.get',
  'notifications.publish',
  'notifications.list',
  'notifications.read',
  'notifications.readAll',
  'notifications.settings',
  'notifications.mute',
  'notifications.surfaces',
  'apps.list',
  'apps.open',
  'apps.start',
  'apps.stop',
  'apps.return',
  'apps.requestInstall',
  'apps.uninstall',
  'apps.create',
  'launcher.register',
  'runtime.status',
  'runtime.pause',
  'wallet.proposePayment',
  'wallet.proposePolicy',
  'mcp.listTools',
  'mcp.callTool',
  'mcp.proposeTool',
  'schedules.list',
  'search.query',
  'chrome.set',
] as const;
export type BridgeMethod = (typeof bridgeMethods)[number];

/** First message of the frame to its parent. */
export interface BridgeHello {
  readonly type: 'platform.hello';
  readonly version: typeof BRIDGE_VERSION;
  readonly nonce: string;
}

export interface BridgeContext {
  readonly appId: string;
  readonly theme: 'light' | 'dark';
  readonly displayMode: 'window' | 'immersive';
  /** The installation's grant snapshot. */
  readonly capabilities: readonly Grant[];
  /** Only with the grant `account.profile.read`. */
  readonly accountName?: string;
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
  readonly method: BridgeMethod;
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
