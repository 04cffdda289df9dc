// How messages are kept: under a key of their conversation, which the master key wraps, and bound to the conversation, the
// message and its sender, so that a row that is copied elsewhere opens nothing there.
import type { CoreContext } from '../../context.ts';
import { seal, unseal } from '../../credentials/master-key.ts';

const KEY_PURPOSE = 'conversation-key';
const BODY_PURPOSE = 'conversation-message';

export interface MessagePlace {
  readonly conversationId: string;
  readonly messageId: string;
  readonly senderKey: string;
}

export function newConversationKey(
  { masterKey, random }: Pick<CoreContext, 'masterKey' | 'random'>,
  conversationId: string,
): Buffer {
  return seal(masterKey, KEY_PURPOSE, conversationId, random(32), random);
}

/** @throws Error when it was sealed for another conversation or with another key */
export function openConversationKey(
  { masterKey }: Pick<CoreContext, 'masterKey'>,
  conversationId: string,
  sealed: Buffer,
): Buffer {
  return unseal(masterKey, KEY_PURPOSE, conversationId, sealed);
}

export function sealBody(key: Buffer, place: MessagePlace, body: string, random: CoreContext['random']): Buffer {
  return seal(key, BODY_PURPOSE, contextOf(place), Buffer.from(body, 'utf8'), random);
}

/** @throws Error when the message was sealed for another place or with another key */
export function openBody(key: Buffer, place: MessagePlace, sealed: Buffer): string {
  return unseal(key, BODY_PURPOSE, contextOf(place), sealed).toString('utf8');
}

function contextOf({ conversationId, messageId, senderKey }: MessagePlace): string {
  return JSON.stringify([conversationId, messageId, senderKey]);
}
