// What an app encrypts so that nobody but its person reads it. The shell does it, with a key that neither app nor platform has.
import type { RecipientState } from '@platform/contract';
import { base64urlOf, bytesFromBase64url } from './base64url.ts';
import type { Bridge, BridgeCallOptions } from './bridge.ts';

/**
 * Encryption for the person: what is sealed opens only in this app, in browsers that the person signed in with a passkey. Needs no grant,
 * and asks the person nothing. It hides what is sealed; it does not prove who sealed it, because the key for sealing is public.
 *
 * @example
 * ```ts
 * import { App } from '@platform/sdk/browser';
 *
 * const app = await App.connect();
 * const sealed = await app.recipient.seal('Dear diary');
 * await app.files().put('today', sealed);
 * const text = new TextDecoder().decode(await app.recipient.open(sealed));
 * document.title = text;
 * ```
 */
export interface Recipient {
  /**
   * Whether `seal` and `open` work here: `ready`; `locked`, until the person signs in again or unlocks it in Settings → Passkeys;
   * `none`, until they turn it on there; `unsupported` with their passkey; `migrates-at-sign-in`, until they sign out and in once.
   */
  status(options?: BridgeCallOptions): Promise<RecipientState>;
  /**
   * Encrypts for the person, so that only this app opens it for them.
   *
   * @param plaintext at most 32 KiB; text is UTF-8
   * @returns characters to keep wherever the app keeps its data, about a third longer
   * @throws {PlatformError} `unavailable` in every state but `ready`, with what the person can do; `invalid_request` for more than 32 KiB
   */
  seal(plaintext: string | Uint8Array, options?: BridgeCallOptions): Promise<string>;
  /**
   * What was sealed, as bytes; `TextDecoder` makes text of them.
   *
   * @param sealed as `seal` gave it, in this browser or another one of the person
   * @throws {PlatformError} `unavailable` as above; `invalid_request` for what another app sealed, or was changed since; `not_found` for
   *   what was sealed before the person started anew
   */
  open(sealed: string, options?: BridgeCallOptions): Promise<Uint8Array<ArrayBuffer>>;
}

export function recipientOver(bridge: Bridge): Recipient {
  return {
    async status(options) {
      return (await bridge.call('recipient.status', undefined, options)).state;
    },
    async seal(plaintext, options) {
      const bytes = typeof plaintext === 'string' ? new TextEncoder().encode(plaintext) : plaintext;
      return (await bridge.call('recipient.seal', { plaintext: base64urlOf(bytes) }, options)).sealed;
    },
    async open(sealed, options) {
      return bytesFromBase64url((await bridge.call('recipient.open', { sealed }, options)).plaintext);
    },
  };
}
