// What the app knows of conversations and messages, in one value: news and pages are merged into it, so that nothing is twice and
// everything is in order, however it came.
import type { Conversation, Message } from '@platform/sdk/browser';

/** A message that is on its way, or was not taken. */
export interface Outgoing {
  readonly transactionId: string;
  readonly conversationId: string;
  readonly body: string;
  /** Why it was not taken; absent while it is on its way. */
  readonly problem?: string;
}

export interface Thread {
  /** Oldest first. */
  readonly messages: readonly Message[];
  /** Of the page before the oldest; `null` when there is none, `undefined` before the first page was read. */
  readonly older: string | null | undefined;
}

export interface Mail {
  readonly conversations: ReadonlyMap<string, Conversation>;
  readonly threads: ReadonlyMap<string, Thread>;
  readonly outgoing: readonly Outgoing[];
  /** Of the page of conversations after those that were listed; `null` after the last, `undefined` before the first. */
  readonly older: string | null | undefined;
  /** How often the news began anew. What was asked for before belongs to threads that are gone. */
  readonly beginning: number;
}

export const EMPTY: Mail = {
  conversations: new Map(),
  threads: new Map(),
  outgoing: [],
  older: undefined,
  beginning: 0,
};

const NO_THREAD: Thread = { messages: [], older: undefined };

export function withConversations(mail: Mail, fresh: readonly Conversation[]): Mail {
  if (fresh.length === 0) return mail;
  return { ...mail, conversations: new Map([...mail.conversations, ...fresh.map((one) => [one.id, one] as const)]) };
}

/**
 * A page of the list of conversations. What the news brought meanwhile is newer.
 *
 * @param asked the mail in which it was asked for
 */
export function withListed(
  mail: Mail,
  asked: Mail,
  { items, nextCursor }: { readonly items: readonly Conversation[]; readonly nextCursor: string | null },
): Mail {
  if (asked.beginning !== mail.beginning) return mail;
  const listed = items.map((one) => [one.id, one] as const);
  return { ...mail, conversations: new Map([...listed, ...mail.conversations]), older: nextCursor };
}

/** The news begin anew: what there is now is read again. */
export function begunAnew({ outgoing, beginning }: Mail): Mail {
  return { ...EMPTY, outgoing, beginning: beginning + 1 };
}

/** What the news brought. Threads that were never opened stay so: their pages have it. */
export function withNews(mail: Mail, messages: readonly Message[]): Mail {
  const threads = new Map(mail.threads);
  for (const message of messages) {
    const thread = threads.get(message.conversationId);
    if (thread !== undefined)
      threads.set(message.conversationId, { ...thread, messages: merged(thread.messages, [message]) });
  }
  return messages.length === 0 ? mail : { ...mail, threads, outgoing: stillOutgoing(mail.outgoing, messages) };
}

/** A page of a thread, newest first as it comes. @param asked the mail in which it was asked for */
export function withPage(
  mail: Mail,
  asked: Mail,
  conversationId: string,
  { items, nextCursor }: { readonly items: readonly Message[]; readonly nextCursor: string | null },
): Mail {
  if (asked.beginning !== mail.beginning) return mail;
  const thread = mail.threads.get(conversationId) ?? NO_THREAD;
  const messages = merged(items.toReversed(), thread.messages);
  return { ...mail, threads: new Map([...mail.threads, [conversationId, { messages, older: nextCursor }]]) };
}

export function withOutgoing(mail: Mail, one: Outgoing): Mail {
  return { ...mail, outgoing: [...without(mail.outgoing, one.transactionId), one] };
}

/** It was taken: now it is a message. */
export function withSent(mail: Mail, transactionId: string, message: Message): Mail {
  return withNews({ ...mail, outgoing: without(mail.outgoing, transactionId) }, [message]);
}

export function withoutOutgoing(mail: Mail, transactionId: string): Mail {
  return { ...mail, outgoing: without(mail.outgoing, transactionId) };
}

/** The news of a message may come before the answer to its sender: until that is there, it is known by its words. */
function stillOutgoing(outgoing: readonly Outgoing[], messages: readonly Message[]): readonly Outgoing[] {
  const left = [...outgoing];
  for (const { conversationId, body } of messages) {
    const at = left.findIndex(
      (one) => one.conversationId === conversationId && one.body === body && one.problem === undefined,
    );
    if (at !== -1) left.splice(at, 1);
  }
  return left;
}

function without(outgoing: readonly Outgoing[], transactionId: string): Outgoing[] {
  return outgoing.filter((one) => one.transactionId !== transactionId);
}

/** Each once; those that come later stand later. */
function merged(former: readonly Message[], later: readonly Message[]): Message[] {
  const all = new Map(former.map((one) => [one.id, one]));
  for (const one of later) all.set(one.id, one);
  return [...all.values()];
}

/** The latest first; those that were left are not shown. */
export function listed(mail: Mail): readonly Conversation[] {
  return [...mail.conversations.values()]
    .filter(({ state }) => state !== 'left')
    .toSorted((one, other) => latestOf(other).localeCompare(latestOf(one)));
}

function latestOf({ lastMessageAt, createdAt }: Conversation): string {
  return lastMessageAt ?? createdAt;
}
