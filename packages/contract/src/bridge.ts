// The shell bridge, version 1 (contract 5): messages between an app frame and the trusted shell.

import type { BridgeCall } from './bridge-calls.ts';
import type { Grant } from './domains/grants.ts';
import type { ErrorCode } from './errors.ts';

export const BRIDGE_VERSION = 1;

/** Methods of contract 5 that are not there yet: the shell refuses them with `unavailable`. */
export const laterBridgeMethods = [
  'apps.create',
  'wallet.proposePayment',
  'wallet.proposePolicy',
  'mcp.listTools',
  'mcp.callTool',
  'mcp.proposeTool',
  'schedules.list',
] as const;

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
