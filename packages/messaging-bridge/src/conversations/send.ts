// Sends a message: to every device that the other side has now, encrypted, and once, however often it is asked for.
import { createHash } from 'node:crypto';
import type { MessagingBridgeInput } from '@platform/contract';
import type { Account } from '../accounts/account.ts';
import { OperationError } from '../failure.ts';
import { MatrixError, saysNotThere } from '../matrix/homeserver.ts';
import type { Obstacles } from '../matrix/machine.ts';
import { sentAnswer } from '../matrix/shapes.ts';
import type { Book, Conversation, Message, Sending } from './book.ts';
import { isHeard } from './gaps.ts';
import { currentRoom, makeRoom } from './open-room.ts';
import { HEARD_BEFORE_SENDING_MS, MOST_SENDINGS, REQUEST_MESSAGES } from './rules.ts';
import { sayNewIdentity, sayUnconfirmed } from './say-keys.ts';
import { settleSending } from './take-events.ts';
import { presentIn } from './take-rooms.ts';
import { isOfRoom, takeSync } from './take-sync.ts';

/** Within the turns of the account and of the conversation. @throws OperationError */
export async function sendMessage(
  account: Account,
  input: MessagingBridgeInput<'send'>,
  clock: () => number,
): Promise<Message> {
  const { book } = account;
  const transactionId = transactionOf(account, input.transactionId);
  const digest = createHash('sha256').update(input.message.body).digest('hex');
  const known = book.sendings.get(transactionId);
  if (known !== undefined && (known.digest !== digest || known.conversation !== input.conversationId))
    throw new OperationError('conflict', 'This transactionId was used for another message.');
  if (known !== undefined && known.messageId !== null) return messageOf(book, known.messageId);
  // Devices that are new get no key otherwise; and what was sent before a crash may be there.
  await takeSync(account, clock);
  await requireHeard(account, input.conversationId, clock);
  const sending =
    book.sendings.get(transactionId) ?? (await prepare(account, { ...input, transactionId }, digest, clock));
  if (sending.messageId !== null) return messageOf(book, sending.messageId);
  // It may have been encrypted before the conversation was left, by a call that did not get as far as this.
  requireSendable(book, input.conversationId);
  return messageOf(book, await put(account, sending, clock));
}

/**
 * The homeserver's name of a transaction. Synapse knows those of an application service by room and name alone, whoever of its
 * users sends: two with one name in one room would be one message.
 */
function transactionOf({ as }: Account, transactionId: string): string {
  return createHash('sha256')
    .update(JSON.stringify([as.userId, as.deviceId, transactionId]))
    .digest('hex');
}

function messageOf(book: Book, id: string): Message {
  const message = book.messages.get(id);
  if (message === undefined) throw new OperationError('conflict', 'This message was sent, and is no longer kept.');
  return message;
}

/** What is written now comes after all that was said before. @throws OperationError `unavailable` */
async function requireHeard(account: Account, id: string, clock: () => number): Promise<void> {
  const begun = account.book.last();
  if (!(await isHeard(account, id, HEARD_BEFORE_SENDING_MS)))
    throw new OperationError('unavailable', 'What was said before is still being fetched. Try again later.');
  if (account.book.last() > begun) await takeSync(account, clock);
}

/** Encrypts it and keeps that, so that it is the same that is sent again. */
async function prepare(
  account: Account,
  { conversationId, transactionId, message }: MessagingBridgeInput<'send'>,
  digest: string,
  clock: () => number,
): Promise<Sending> {
  const { book, machine, store } = account;
  const before = requireSendable(book, conversationId);
  const room = currentRoom(account, before) ?? (await makeRoom(account, before.other, clock));
  // Who left or blocked the other side while their server was asked has the last word.
  const conversation = requireSendable(book, conversationId);
  await sayNewIdentity(account, conversation.other, clock());
  // Not to the other side where it has left: the key is then another one, which it never gets.
  requireNoObstacle(await machine.share(room.id, presentIn(room)));
  await sayUnconfirmed(account, conversation.other, clock());
  const content = await machine.encrypt(room.id, 'm.room.message', { msgtype: 'm.text', body: message.body });
  const sending: Sending = {
    transactionId,
    conversation: conversation.id,
    digest,
    roomId: room.id,
    content,
    body: message.body,
    messageId: null,
  };
  book.sendings.set(transactionId, sending);
  forgetOldest(book);
  await store.commit();
  return sending;
}

/** @throws OperationError */
function requireNoObstacle({ without, unreached, crowded }: Obstacles): void {
  if (crowded.length > 0)
    throw new OperationError('conflict', 'The other side has too many devices to encrypt for. Nothing was sent.');
  if (unreached.length > 0)
    throw new OperationError('unreachable', 'The server of the other side does not give its keys at present.');
  if (without.length > 0)
    throw new OperationError('no_encryption', 'The other side has no device that can decrypt. Nothing was sent.');
}

/** @throws OperationError `not_found`, `conflict` */
function requireSendable(book: Book, id: string): Conversation {
  const conversation = book.conversations.get(id);
  if (conversation === undefined) throw new OperationError('not_found', 'There is no such conversation.');
  if (conversation.state === 'left') throw new OperationError('conflict', 'You left this conversation.');
  if (conversation.state === 'request') throw new OperationError('conflict', 'Accept the request first.');
  if (conversation.state === 'requested' && conversation.asked >= REQUEST_MESSAGES)
    throw new OperationError('conflict', 'The other side has not accepted yet.');
  return conversation;
}

/** What the homeserver has seen of this device under a transaction it does not take twice. */
async function put(account: Account, sending: Sending, clock: () => number): Promise<string> {
  const { book, homeserver, as, store, userId } = account;
  const { event_id: id } = await homeserver
    .request(as, {
      method: 'PUT',
      path: ['_matrix', 'client', 'v3', 'rooms', sending.roomId, 'send', 'm.room.encrypted', sending.transactionId],
      body: sending.content ?? {},
      answer: sentAnswer,
    })
    .catch(async (error: unknown) => {
      if (!(await isFinal(account, error))) throw error;
      // As it is it never goes out: asked for again, it is made anew, perhaps for another room.
      book.sendings.delete(sending.transactionId);
      await store.commit();
      if (saysNotThere(error))
        throw new OperationError('conflict', 'The other side does not let this account write in their room.');
      if (!(error instanceof MatrixError && error.code === 'M_TOO_LARGE')) throw error;
      throw new OperationError('conflict', 'The message is too long: encrypted, it has more than 64 KiB.');
    });
  settleSending(book, sending.transactionId, id, clock(), userId);
  await store.commit();
  return id;
}

/** Whether the homeserver has refused what it was sent, and will do so again. */
async function isFinal(account: Account, error: unknown): Promise<boolean> {
  if (error instanceof MatrixError && (error.status === 400 || error.status === 413)) return true;
  return isOfRoom(account, error);
}

/** Those that are done, in the order in which they came. */
function forgetOldest(book: Book): void {
  if (book.sendings.size <= MOST_SENDINGS) return;
  for (const { transactionId, messageId } of book.sendings.values()) {
    if (messageId === null) continue;
    book.sendings.delete(transactionId);
    return;
  }
}
