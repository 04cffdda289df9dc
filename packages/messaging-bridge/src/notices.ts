// What core is to be told for notifications, of all accounts in one queue: conversations that begin to wait for their person, and
// those that no longer do. An account's store keeps what core was told last; the queue is in memory, and made anew from the stores.
import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import type { MessagingBridgeNotice, MessagingBridgeNotices, MessagingBridgeNoticesInput } from '@platform/contract';
import type { Account } from './accounts/account.ts';
import { isRequest, type Untold, untoldOf } from './conversations/attention.ts';
import type { Conversation } from './conversations/book.ts';
import { shownConversation } from './conversations/read.ts';
import type { Log } from './log.ts';

/** How a conversation is, as core was told. */
export interface Heard {
  readonly conversationId: string;
  readonly attention: string;
}

export interface Notices {
  /** Looks at conversations that may have changed. */
  look(accountId: string, account: Account, conversations: Iterable<Conversation>): void;
  /** Of a conversation that was forgotten. */
  dropConversation(accountId: string, conversationId: string): void;
  /** Of an account that is no more. */
  drop(accountId: string): void;
  /**
   * Answers core, which has what the answer of this cursor had.
   *
   * @param keep what an account's store is to remember of it
   */
  answer(
    input: MessagingBridgeNoticesInput,
    keep: (accountId: string, heard: readonly Heard[]) => Promise<void>,
    signal: AbortSignal,
  ): Promise<MessagingBridgeNotices>;
}

/** Milliseconds: whoever has the conversation open has read the message by then. */
const READING_MS = 3_000;
/** Beyond that what is not told yet is found again when its account is opened. */
const MOST_KEPT = 10_000;
/** Requests of which one account is told: at once, and milliseconds until one more. */
const MOST_REQUESTS = 20;
const REQUEST_MS = 3_600_000;

interface Waiting extends Untold {
  readonly accountId: string;
  readonly userId: string;
  readonly dueAt: number;
  /** One of too many, of which nobody is told. */
  readonly isSurplus: boolean;
}

export function openNotices(clock: () => number, log: Log): Notices {
  const waiting = new Map<string, Waiting>();
  /** Those of `waiting` that core was told of, and has not said that it kept. */
  const offered = new Set<string>();
  const requests = new Map<string, { readonly left: number; readonly at: number }>();
  const changes = new EventEmitter().setMaxListeners(0);
  let last: { readonly cursor: string; readonly notices: readonly Waiting[] } = { cursor: '', notices: [] };

  function isSurplus(accountId: string): boolean {
    const now = clock();
    const { left, at } = requests.get(accountId) ?? { left: MOST_REQUESTS, at: now };
    const grown = Math.min(MOST_REQUESTS, left + Math.max(0, now - at) / REQUEST_MS);
    if (grown < 1) return true;
    requests.set(accountId, { left: grown - 1, at: now });
    return false;
  }

  function dropOne(name: string): void {
    waiting.delete(name);
    offered.delete(name);
  }

  function drop(accountId: string): void {
    for (const [name, one] of waiting) if (one.accountId === accountId) dropOne(name);
  }

  async function keepAll(
    notices: readonly Waiting[],
    keep: (accountId: string, heard: readonly Heard[]) => Promise<void>,
  ): Promise<void> {
    for (const [accountId, own] of Map.groupBy(notices, (one) => one.accountId)) {
      const heard = own.map(({ conversation, attention }) => ({ conversationId: conversation.id, attention }));
      for (const one of own) offered.delete(nameOf(one));
      await keep(accountId, heard).catch((error: unknown) => {
        // It is found again when the account is opened, and holds up nobody else until then.
        log.warn({ err: error, accountId }, 'what core was told of an account could not be kept');
        drop(accountId);
      });
      // Nobody has looked at it since: the conversation was forgotten.
      for (const one of own) if (waiting.get(nameOf(one)) === one) dropOne(nameOf(one));
    }
  }

  function due(limit: number): Waiting[] {
    const now = clock();
    const found: Waiting[] = [];
    for (const one of waiting.values()) {
      if (found.length === limit) break;
      if (one.dueAt <= now) found.push(one);
    }
    return found;
  }

  /** Resolves when there may be something due, or when `signal` aborts. */
  async function next(signal: AbortSignal): Promise<void> {
    let at = Number.POSITIVE_INFINITY;
    for (const { dueAt } of waiting.values()) at = Math.min(at, dueAt);
    const pause = Math.max(1, at - clock());
    const until = pause > READING_MS ? signal : AbortSignal.any([signal, AbortSignal.timeout(pause)]);
    await once(changes, 'change', { signal: until }).catch((error: unknown) => {
      if (!until.aborted) throw error;
    });
  }

  return {
    look(accountId, { book, userId }, conversations) {
      for (const conversation of conversations) {
        const name = nameOf({ accountId, conversation });
        const untold = untoldOf(book, conversation, offered.has(name));
        if (untold === null) {
          dropOne(name);
          continue;
        }
        const before = waiting.get(name);
        if (before === undefined && waiting.size >= MOST_KEPT) continue;
        if (before?.id === untold.id && before.attention === untold.attention)
          waiting.set(name, { ...before, conversation });
        else {
          const ofRequest = isRequest(untold);
          const pause = ofRequest || untold.attention === '' ? 0 : READING_MS;
          const surplus = ofRequest && isSurplus(accountId);
          waiting.set(name, { ...untold, accountId, userId, dueAt: clock() + pause, isSurplus: surplus });
        }
        changes.emit('change');
      }
    },
    dropConversation: (accountId, id) => dropOne(nameOf({ accountId, conversation: { id } })),
    drop(accountId) {
      drop(accountId);
      requests.delete(accountId);
    },
    async answer({ cursor, timeoutMs, limit }, keep, signal) {
      const until = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      if (cursor === last.cursor) await keepAll(last.notices, keep);
      for (;;) {
        const found = due(limit);
        const told = found.filter((one) => !one.isSurplus);
        if (told.length > 0 || (found.length === 0 && until.aborted)) {
          last = { cursor: randomBytes(12).toString('base64url'), notices: found };
          for (const one of told) offered.add(nameOf(one));
          return { cursor: last.cursor, notices: told.map(shown) };
        }
        if (found.length > 0) await keepAll(found, keep);
        else await next(until);
      }
    },
  };
}

const nameOf = ({ accountId, conversation: { id } }: { accountId: string; conversation: Pick<Conversation, 'id'> }) =>
  `${accountId} ${id}`;

const shown = ({ accountId, userId, id, conversation }: Waiting): MessagingBridgeNotice => ({
  id,
  accountId,
  transportUserId: userId,
  conversation: shownConversation(conversation),
});
