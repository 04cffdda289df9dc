// Sends one message to one browser: encrypted for it (RFC 8291), signed by this platform (RFC 8292), through its push
// service (RFC 8030). What the service answers becomes one of a few outcomes.
import type { PushPayload } from '@platform/contract';
import { type Dispatcher, request } from 'undici';
import webPush from 'web-push';
import type { Urgency } from './compose-message.ts';
import { BlockedAddressError, type ConnectOptions, privateAgent, publicAgent } from './connect-checked.ts';
import type { PushAddress } from './push-address.ts';
import type { VapidKeys } from './vapid-keys.ts';

export interface OutgoingMessage {
  readonly payload: PushPayload;
  /** Seconds for which the push service keeps it for a browser that is off. */
  readonly ttl: number;
  readonly urgency: Urgency;
  readonly topic: string | null;
}

export type Outcome =
  | { readonly kind: 'sent' }
  /** The browser unsubscribed: 404 or 410. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'too-large' }
  /** Sending it again would change nothing. */
  | { readonly kind: 'refused'; readonly why: string }
  /** `afterMilliseconds` of `Retry-After`, where it was given. */
  | { readonly kind: 'later'; readonly why: string; readonly afterMilliseconds: number | null };

export interface SenderOptions extends ConnectOptions {
  readonly keys: VapidKeys;
  /** `sub` of the token. */
  readonly subject: string;
  readonly privateOrigins: readonly string[];
  readonly clock: () => Date;
}

/** Connecting, sending and the answer together. */
const REQUEST_MILLISECONDS = 15_000;
/** A token holds for half a day (RFC 8292 allows a day) and is used for half of that. */
const TOKEN_SECONDS = 12 * 3_600;
const MOST_TOKENS = 1_000;

/** `aes128gcm` of RFC 8188 with the keys of RFC 8291: one record. */
export function encryptFor({ p256dh, auth }: Pick<PushAddress, 'p256dh' | 'auth'>, plain: Buffer): Buffer {
  return webPush.encrypt(p256dh, auth, plain, 'aes128gcm').cipherText;
}

/** The header `Authorization` for a push service, by its origin. */
export function vapidHeader(
  origin: string,
  { keys, subject, expires }: { readonly keys: VapidKeys; readonly subject: string; readonly expires: Date },
): string {
  const seconds = Math.floor(expires.getTime() / 1000);
  const { publicKey, privateKey } = keys;
  return webPush.getVapidHeaders(origin, subject, publicKey, privateKey, 'aes128gcm', seconds).Authorization;
}

export class PushSender {
  readonly #options: SenderOptions;
  readonly #public: Dispatcher;
  readonly #private: Dispatcher;
  readonly #tokens = new Map<string, { readonly header: string; readonly until: number }>();

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#public = publicAgent(options);
    this.#private = privateAgent(options);
  }

  /** @param stopping ends the request; the outcome is `later` then */
  async send(address: PushAddress, message: OutgoingMessage, stopping: AbortSignal): Promise<Outcome> {
    const { origin } = new URL(address.endpoint);
    const body = encryptFor(address, Buffer.from(JSON.stringify(message.payload)));
    try {
      const answer = await request(address.endpoint, {
        dispatcher: this.#options.privateOrigins.includes(origin) ? this.#private : this.#public,
        method: 'POST',
        headers: {
          authorization: this.#authorization(origin),
          'content-encoding': 'aes128gcm',
          'content-type': 'application/octet-stream',
          ttl: String(message.ttl),
          urgency: message.urgency,
          ...(message.topic === null ? {} : { topic: message.topic }),
        },
        body,
        signal: AbortSignal.any([stopping, AbortSignal.timeout(REQUEST_MILLISECONDS)]),
      });
      await answer.body.dump();
      return outcomeOf(answer.statusCode, retryAfterOf(answer.headers['retry-after'], this.#options.clock()));
    } catch (error) {
      if (error instanceof BlockedAddressError) return { kind: 'refused', why: 'its address is not publicly routable' };
      // Errors of the network name hosts and addresses, but never the path, which is the secret part.
      return { kind: 'later', why: error instanceof Error ? error.name : 'unknown', afterMilliseconds: null };
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#public.destroy(), this.#private.destroy()]);
  }

  #authorization(origin: string): string {
    const now = Date.now();
    const known = this.#tokens.get(origin);
    if (known !== undefined && known.until > now) return known.header;
    // Browsers choose the origins, so there may be any number of them.
    if (this.#tokens.size >= MOST_TOKENS) this.#tokens.clear();
    const { keys, subject } = this.#options;
    const header = vapidHeader(origin, { keys, subject, expires: new Date(now + TOKEN_SECONDS * 1000) });
    this.#tokens.set(origin, { header, until: now + (TOKEN_SECONDS * 1000) / 2 });
    return header;
  }
}

function outcomeOf(status: number, afterMilliseconds: number | null): Outcome {
  if (status >= 200 && status < 300) return { kind: 'sent' };
  if (status === 404 || status === 410) return { kind: 'gone' };
  if (status === 413) return { kind: 'too-large' };
  const why = `status ${status}`;
  if (status === 408 || status === 425 || status === 429 || status >= 500) {
    return { kind: 'later', why, afterMilliseconds };
  }
  return { kind: 'refused', why };
}

/** RFC 9110, section 10.2.3: seconds or a date. */
function retryAfterOf(value: string | string[] | undefined, now: Date): number | null {
  if (typeof value !== 'string') return null;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, date - now.getTime());
}
