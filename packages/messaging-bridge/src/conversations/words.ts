// What an event says to a person: its text, or words in the place of what is no text.
import type { Decrypted } from '../matrix/shapes.ts';

export interface Said {
  readonly kind: 'text' | 'unsupported';
  readonly body: string;
}

/** UTF-16 units of a body. An event has 64 KiB, so that no honest one is longer. */
const LONGEST_BODY = 65_536;
/** Of what is quoted in our words. */
const LONGEST_QUOTE = 100;

const TEXTS = new Set(['m.text', 'm.notice']);
const FILES: Readonly<Record<string, string>> = {
  'm.image': 'a picture',
  'm.file': 'a file',
  'm.audio': 'a recording',
  'm.video': 'a video',
  'm.location': 'a place',
};

/** `null` for events that say nothing to a person. */
export function wordsOf({ type, content }: Decrypted): Said | null {
  switch (type) {
    case 'm.room.message':
      return ofMessage(content);
    case 'm.sticker':
      return unsupported(`Sent a sticker${quoted(content.body)}, which can’t be shown here.`);
    case 'm.reaction':
      return unsupported(`Reacted${quoted(relation(content).key, ' with ')}.`);
    case 'm.call.invite':
    case 'm.call.member':
    case 'org.matrix.msc3401.call.member':
      return unsupported('Called. Calls can’t be taken here.');
    case 'm.poll.start':
    case 'org.matrix.msc3381.poll.start':
      return unsupported('Sent a poll, which can’t be shown here.');
    default:
      return null;
  }
}

function ofMessage(content: Readonly<Record<string, unknown>>): Said {
  const { msgtype } = content;
  if (relation(content).rel_type === 'm.replace') {
    const text = textOf((content['m.new_content'] as Record<string, unknown> | undefined)?.body);
    return unsupported(text === null ? 'Edited a message.' : `Edited a message, which is now: ${text}`);
  }
  const text = textOf(content.body);
  if (typeof msgtype === 'string' && TEXTS.has(msgtype) && text !== null) return { kind: 'text', body: text };
  if (msgtype === 'm.emote' && text !== null) return { kind: 'text', body: `* ${text}` };
  if (msgtype === 'm.key.verification.request') return unsupported('Asked to compare keys, which can’t be done here.');
  const what = typeof msgtype === 'string' ? FILES[msgtype] : undefined;
  if (what !== undefined) return unsupported(`Sent ${what}${quoted(content.body)}, which can’t be shown here.`);
  return unsupported('Sent something that can’t be shown here.');
}

export const DELETED: Said = { kind: 'unsupported', body: 'Deleted a message.' };
export const UNREADABLE: Said = { kind: 'unsupported', body: 'Sent a message that can’t be decrypted.' };
export const NOT_ENCRYPTED: Said = {
  kind: 'unsupported',
  body: 'Sent a message without encryption, which isn’t shown.',
};
export const BECAME_GROUP: Said = {
  kind: 'unsupported',
  body: 'Added somebody else. Conversations of more than two people aren’t possible here, so you left this one.',
};
export const NEW_DEVICE: Said = {
  kind: 'unsupported',
  body: 'The keys of this account were lost. It has a new device, and earlier messages can’t be read any more.',
};

const unsupported = (body: string): Said => ({ kind: 'unsupported', body: clipped(body, LONGEST_BODY) });

function relation(content: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const relates = content['m.relates_to'];
  return typeof relates === 'object' && relates !== null ? (relates as Record<string, unknown>) : {};
}

/** `null` for none. What no database or page can hold is replaced. */
function textOf(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const text = clipped(value.toWellFormed().replaceAll('\0', '\ufffd'), LONGEST_BODY);
  return text === '' ? null : text;
}

function quoted(value: unknown, before = ' '): string {
  const text = textOf(value);
  return text === null ? '' : `${before}“${clipped(text.replaceAll(/\s+/g, ' ').trim(), LONGEST_QUOTE)}”`;
}

/** No half of a character at the end. */
const clipped = (text: string, most: number) => (text.length <= most ? text : text.slice(0, most).toWellFormed());
