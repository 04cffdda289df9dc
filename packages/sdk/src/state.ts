// What an app leaves with the shell while it is not loaded: a draft, a filter, the lines that were open.
import type { Bridge, BridgeCallOptions } from './bridge.ts';

/**
 * What the shell keeps for an app that is not loaded.
 *
 * @example
 * ```ts
 * import { App } from '@platform/sdk/browser';
 *
 * const app = await App.connect();
 * const draft = await app.state.get<{ text: string }>();
 * await app.state.set({ text: `${draft?.text ?? ''}!` });
 * ```
 */
export interface AppState {
  /** What `set` kept last, for this installation and as long as the session lasts in this tab; `null` when nothing is kept. */
  get<Value = unknown>(options?: BridgeCallOptions): Promise<Value | null>;
  /**
   * Keeps one value, in place of the former: whatever JSON can hold, at most 64 KiB of it. `null` removes it.
   *
   * @throws {PlatformError} `payload_too_large`, `unavailable` when the browser has no room
   */
  set(value: unknown, options?: BridgeCallOptions): Promise<void>;
}

/** State of the app's page that the shell keeps on this device, as JSON. */
export function stateOver(bridge: Bridge): AppState {
  return {
    async get<Value>(options?: BridgeCallOptions) {
      const { json } = await bridge.call('state.get', undefined, options);
      return json === null ? null : (JSON.parse(json) as Value);
    },
    async set(value, options) {
      await bridge.call('state.set', { json: JSON.stringify(value) ?? 'null' }, options);
    },
  };
}
