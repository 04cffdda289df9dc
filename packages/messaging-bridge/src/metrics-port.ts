// What the bridge counts, without the library that collects it.
import type { MessagingBridgeErrorCode, MessagingBridgeOperation } from '@platform/contract';

/** What a bridge knows at a moment. */
export interface BridgeState {
  /** That the homeserver knows. */
  readonly accounts: number;
  /** In memory. */
  readonly openAccounts: number;
  /** That wait to be looked after. */
  readonly dirtyAccounts: number;
}

export interface BridgeMetrics {
  /** Begins to read what the bridge knows. Called once. */
  watch(state: () => BridgeState): void;
  /** Core was answered. */
  operated(operation: MessagingBridgeOperation | 'notices', outcome: MessagingBridgeErrorCode | 'ok'): void;
  /** What was new for an account was taken in, or not. */
  synced(seconds: number, isTaken: boolean): void;
}

const nothing = (): void => undefined;

export const noMetrics: BridgeMetrics = { watch: nothing, operated: nothing, synced: nothing };
