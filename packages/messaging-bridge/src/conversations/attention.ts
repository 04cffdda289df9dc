// Whether a conversation waits for its person: a request, or something unread. Core makes notifications of it, and is told of a
// conversation again only once that has changed.
import type { Book, Conversation } from './book.ts';

/** What core was told of a conversation last, and how often it was told something. */
export interface Told {
  readonly attention: string;
  readonly count: number;
}

/** What core does not know yet of a conversation. */
export interface Untold {
  readonly conversation: Conversation;
  /** As `attentionOf`. */
  readonly attention: string;
  /** Names it among all notices of all accounts. */
  readonly id: string;
}

/** What a person who gets a notification would be told; the same text as long as there is nothing new to tell. */
export function attentionOf({ state, unread, readTo }: Conversation): string {
  if (state === 'request') return 'request';
  return unread > 0 && state !== 'left' ? `unread ${readTo}` : '';
}

export const isRequest = ({ attention }: Pick<Untold, 'attention'>) => attention === 'request';

/**
 * `null` where core knows how it is.
 *
 * @param isOffered core was told something since, and has not said that it kept that: it may know it, or not
 */
export function untoldOf(book: Book, conversation: Conversation, isOffered = false): Untold | null {
  const attention = attentionOf(conversation);
  const { attention: told, count } = book.told.get(conversation.id) ?? { attention: '', count: 0 };
  if (attention === told && !isOffered) return null;
  // Named after what it says as well: core takes something new under a name that it has kept for what it knows.
  const says = attention === '' ? 'nothing' : attention.replace(' ', '-');
  return { conversation, attention, id: `${book.epoch()}.${conversation.id}.${count}.${says}` };
}

/** Core knows it now. */
export function keepTold(book: Book, conversationId: string, attention: string): void {
  // It was forgotten meanwhile.
  if (book.conversations.get(conversationId) === undefined) return;
  const count = (book.told.get(conversationId)?.count ?? 0) + 1;
  book.told.set(conversationId, { attention, count });
}

/** A store of a version without notices has nothing to tell of what was before. */
export function beginTelling(book: Book): void {
  if (book.meta.get('told') !== undefined) return;
  book.meta.set('told', 'yes');
  for (const conversation of book.conversations.values())
    if (attentionOf(conversation) !== '') keepTold(book, conversation.id, attentionOf(conversation));
}
