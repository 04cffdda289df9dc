// Sends one message to one browser: encrypted for it (RFC 8291), signed by this platform (RFC 8292), through its push
// service (RFC 8030). What the service answers becomes one of a few outcomes.
import type { IncomingHttpHeaders } from 'node:http';
import type { PushPayload } from '@platform/contract';
import { BlockedAddressError, CONNECTION_AGE_MS, createDialer, type Dialer, dialingConnector } from '@platform/http';
import { Agent, type Dispatcher } from 'undici';
import webPush from 'web-push';
import type { Urgency } from './compose-message.ts';
import { EncryptionPool } from './encryption-pool.ts';
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

export interface ConnectOptions {
  /** Further certificate authority, PEM; for tests, not reachable from the configuration. Default: none. */
  readonly ca?: string | undefined;
  /** Default: connects from this machine. */
  readonly dialer?: Dialer | undefined;
}

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
/** Of connections to one push service. Nothing in an answer is used but its status and `Retry-After`. */
const CONNECTION_LIMITS = {
  connections: 32,
  pipelining: 1,
  keepAliveTimeout: 30_000,
  headersTimeout: 10_000,
  bodyTimeout: 10_000,
  maxResponseSize: 16 * 1024,
  allowH2: false,
} as const satisfies Agent.Options;
const TOO_LATE = 'it took too long';
const NOT_ROUTABLE = 'its address is not publicly routable';

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
  readonly #agent: Agent;
  readonly #encryption = new EncryptionPool();
  readonly #tokens = new Map<string, { readonly header: string; readonly until: number }>();

  constructor(options: SenderOptions) {
    this.#options = options;
    const { dialer = createDialer(), privateOrigins: allow, ca } = options;
    this.#agent = new Agent({
      ...CONNECTION_LIMITS,
      clientTtl: CONNECTION_AGE_MS,
      connect: dialingConnector({ dialer, allow, ca }),
    });
  }

  /** @throws Error for a browser whose keys are none, or after `close` */
  async send({ endpoint, ...browser }: PushAddress, message: OutgoingMessage): Promise<Outcome> {
    const { origin, pathname, search } = new URL(endpoint);
    const { clock } = this.#options;
    const body = await this.#encryption.encrypt(browser, JSON.stringify(message.payload));
    const headers = {
      authorization: this.#authorization(origin),
      'content-encoding': 'aes128gcm',
      'content-type': 'application/octet-stream',
      ttl: String(message.ttl),
      urgency: message.urgency,
      ...(message.topic === null ? {} : { topic: message.topic }),
    };
    return await new Promise((resolve) => {
      const answer = new Answer(clock, resolve);
      this.#agent.dispatch({ origin, path: pathname + search, method: 'POST', headers, body }, answer);
    });
  }

  /** Ends requests under way; their outcome is `later`. */
  async abort(): Promise<void> {
    await this.#agent.destroy();
  }

  async close(): Promise<void> {
    await this.abort();
    await this.#encryption.close();
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

/** Reads the status and one header of a push service's answer. A dispatch handler, as the body is not needed. */
class Answer implements Dispatcher.DispatchHandler {
  readonly #clock: () => Date;
  readonly #resolve: (outcome: Outcome) => void;
  readonly #limit: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #over = false;
  #outcome: Outcome = { kind: 'later', why: 'no answer', afterMilliseconds: null };

  constructor(clock: () => Date, resolve: (outcome: Outcome) => void) {
    this.#clock = clock;
    this.#resolve = resolve;
    this.#limit = setTimeout(() => this.#expire(), REQUEST_MILLISECONDS);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#over) controller.abort(new Error(TOO_LATE));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    this.#outcome = outcomeOf(status, retryAfterOf(headers['retry-after'], this.#clock()));
  }

  /** undici asks for one. Nothing in a body is used, and `maxResponseSize` bounds it. */
  onResponseData(): void {}

  onResponseEnd(): void {
    this.#finish(this.#outcome);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (error instanceof BlockedAddressError) this.#finish({ kind: 'refused', why: NOT_ROUTABLE });
    // Errors of the network name hosts and addresses, but never the path, which is the secret part.
    else this.#finish({ kind: 'later', why: error.name, afterMilliseconds: null });
  }

  #expire(): void {
    this.#finish({ kind: 'later', why: TOO_LATE, afterMilliseconds: null });
    this.#controller?.abort(new Error(TOO_LATE));
  }

  #finish(outcome: Outcome): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#limit);
    this.#resolve(outcome);
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
