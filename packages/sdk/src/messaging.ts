// Messages of the account to other people: here, and anywhere on Matrix where the operator runs a bridge.
import type { Conversation, Message, MessagingContact, MessagingIdentity, MessagingNews } from '@platform/contract';
import type { CallOptions, ServiceAccess } from './call-options.ts';
import { pause, systemClock } from './clock.ts';
import { PlatformError } from './platform-error.ts';
import { callService } from './service-call.ts';
import type { Page, PageOptions } from './services.ts';

export interface MessagingService {
  /** Who the account is to others. Grant `messaging.read`. */
  identity(options?: CallOptions): Promise<MessagingIdentity>;
  /**
   * Whom an address names: `<name>`, `<name>@<server name>` or `@<name>:<server name>`. Grant `messaging.resolve`.
   *
   * @throws {PlatformError} `not_found` for nobody
   */
  resolve(address: string, options?: CallOptions): Promise<MessagingContact>;
  /** The latest first. Grant `messaging.read`, like all that reads. */
  conversations(options?: PageOptions): Promise<Page<Conversation>>;
  /**
   * Opens the conversation with somebody, or returns the one there is. Until they accept it is a request (`requested`), with at most
   * 3 messages. Grant `messaging.send`, like all that acts.
   *
   * @throws {PlatformError} `not_found` for nobody, `rate_limited` beyond 20 new people a day
   */
  direct(to: string, options?: CallOptions): Promise<Conversation>;
  /** Accepts a request of somebody else. @throws {PlatformError} `conversation_conflict` for what is none */
  accept(conversationId: string, options?: CallOptions): Promise<Conversation>;
  /** Declines a request. The other side does not learn of it. */
  decline(conversationId: string, options?: CallOptions): Promise<Conversation>;
  /** What is written later does not arrive, until the person opens the conversation again with `direct`. */
  leave(conversationId: string, options?: CallOptions): Promise<Conversation>;
  /** Likewise, and requests do not arrive either. The other side does not learn of it. */
  block(conversationId: string, options?: CallOptions): Promise<Conversation>;
  /** Marks messages as read, up to this one, for all apps of the account. */
  read(conversationId: string, messageId: string, options?: CallOptions): Promise<Conversation>;
  /** The newest first. */
  messages(conversationId: string, options?: PageOptions): Promise<Page<Message>>;
  /**
   * Sends a text of 1 to 16,384 characters.
   *
   * @param options.transactionId the same again sends nothing more and returns what was sent, so keep it with a draft that may be sent
   *   again; 1 to 128 characters. Default: a new one, kept while this call is repeated
   * @throws {PlatformError} `conversation_conflict` with the reason: not accepted yet, left, another text under this transactionId
   */
  send(
    conversationId: string,
    body: string,
    options?: CallOptions & { readonly transactionId?: string },
  ): Promise<Message>;
  /**
   * What changed since a cursor, which a former answer gave; without one the newest conversations, and a cursor of now.
   *
   * @param options.timeoutMs how long the platform waits for news, 0 to 30,000; default 0
   * @param options.limit messages, 1 to 100; default 50
   * @throws {PlatformError} `invalid_cursor` for one that is older than 30 days
   */
  sync(options?: SyncOptions): Promise<MessagingNews>;
  /**
   * The news for as long as the loop goes on: first the newest conversations, then what changes, each at least once. Outlasts
   * restarts of the platform; `restarted` says that a cursor was too old and the news begin anew.
   *
   * @param options.waitsOut called with each failure that it waits out, such as a platform that restarts, and with `null` once the
   *   platform answers again
   * @example
   * for await (const { conversations, messages } of app.messaging().news({ signal })) show(conversations, messages);
   * @throws {PlatformError} what ends it, such as a grant that was taken; the reason of `signal`
   */
  news(options?: NewsOptions): AsyncIterable<Restartable>;
}

export type SyncOptions = CallOptions & {
  readonly cursor?: string;
  readonly timeoutMs?: number;
  readonly limit?: number;
};
export interface NewsOptions {
  readonly signal?: AbortSignal;
  readonly cursor?: string;
  readonly waitsOut?: (failure: PlatformError | null) => void;
}
type Restartable = MessagingNews & { readonly restarted: boolean };

const BASE = '/v1/services/messaging';
const ALL = `${BASE}/conversations`;
const ONE = `${ALL}/:conversationId`;
const WAIT_MILLISECONDS = 20_000;
const PAUSE_MILLISECONDS = 2_000;

export function messagingService(access: ServiceAccess): MessagingService {
  type Act = 'accept' | 'decline' | 'leave' | 'block';
  async function act(what: Act, conversationId: string, options?: CallOptions): Promise<Conversation> {
    // Once more it changes nothing.
    const input = { method: 'POST', path: `${ONE}/${what}`, parameters: { conversationId }, repeatable: true } as const;
    return (await callService<'services.messaging.accept'>(access, input as never, options)).conversation;
  }
  function callSync(
    { cursor, timeoutMs, limit, ...options }: SyncOptions,
    repeatable: boolean,
  ): Promise<MessagingNews> {
    const body = { cursor, timeoutMs, limit };
    const input = { method: 'POST', path: `${BASE}/sync`, body, repeatable } as const;
    return callService<'services.messaging.sync'>(access, input, options);
  }
  return {
    async identity(options) {
      const input = { method: 'GET', path: `${BASE}/identity` } as const;
      return (await callService<'services.messaging.identity'>(access, input, options)).identity;
    },
    async resolve(address, options) {
      const input = { method: 'GET', path: `${BASE}/contacts/:address`, parameters: { address } } as const;
      return (await callService<'services.messaging.resolve'>(access, input, options)).contact;
    },
    conversations({ limit, cursor, ...options } = {}) {
      const input = { method: 'GET', path: ALL, query: { limit, cursor } } as const;
      return callService<'services.messaging.conversations'>(access, input, options);
    },
    async direct(to, options) {
      const input = { method: 'POST', path: `${ALL}/direct`, body: { to }, repeatable: true } as const;
      return (await callService<'services.messaging.direct'>(access, input, options)).conversation;
    },
    accept: (id, options) => act('accept', id, options),
    decline: (id, options) => act('decline', id, options),
    leave: (id, options) => act('leave', id, options),
    block: (id, options) => act('block', id, options),
    async read(conversationId, messageId, options) {
      const body = { messageId } as never;
      const input = {
        method: 'POST',
        path: `${ONE}/read`,
        parameters: { conversationId },
        body,
        repeatable: true,
      } as const;
      return (await callService<'services.messaging.read'>(access, input, options)).conversation;
    },
    messages(conversationId, { limit, cursor, ...options } = {}) {
      const query = { limit, cursor };
      const input = { method: 'GET', path: `${ONE}/messages`, parameters: { conversationId }, query } as const;
      return callService<'services.messaging.messages'>(access, input, options);
    },
    async send(conversationId, text, { transactionId = crypto.randomUUID(), ...options } = {}) {
      const body = { transactionId, message: { body: text } };
      const path = `${ONE}/messages` as const;
      const input = { method: 'POST', path, parameters: { conversationId }, body, repeatable: true } as const;
      return (await callService<'services.messaging.send'>(access, input, options)).message;
    },
    sync: (options = {}) => callSync(options, true),
    async *news({ signal, cursor, waitsOut } = {}) {
      for (let next = cursor, restarted = false, failed = false; ; ) {
        try {
          const wait = next === undefined ? {} : { cursor: next, timeoutMs: WAIT_MILLISECONDS };
          // It repeats by itself, and says so.
          const news = await callSync({ ...wait, ...(signal === undefined ? {} : { signal }) }, false);
          const isNews = next === undefined || news.conversations.length + news.messages.length > 0;
          next = news.cursor;
          if (failed) waitsOut?.(null);
          failed = false;
          if (isNews) yield { ...news, restarted };
          restarted = false;
        } catch (error) {
          signal?.throwIfAborted();
          if (!(error instanceof PlatformError)) throw error;
          if (error.code === 'invalid_cursor') {
            next = undefined;
            restarted = true;
          } else if (mayPass(error)) {
            failed = true;
            waitsOut?.(error);
            await pause(
              systemClock,
              PAUSE_MILLISECONDS + 1_000 * (error.retryAfter ?? 0),
              signal ?? new AbortController().signal,
            );
          } else throw error;
        }
      }
    },
  };
}

function mayPass({ code, status }: PlatformError): boolean {
  return code === 'network_failed' || code === 'timed_out' || status >= 500 || status === 429;
}
