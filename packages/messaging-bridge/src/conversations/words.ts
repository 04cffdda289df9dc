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
/** What marks a recording as one that was spoken into the app. */
const VOICE = ['m.voice', 'org.matrix.msc3245.voice'];
const FILES: Readonly<Record<string, string>> = {
  'm.image': 'a picture',
  'm.file': 'a file',
  'm.audio': 'a recording',
  'm.video': 'a video',
  'm.location': 'a place',
};

export const DEVICE_ADDED: Said = {
  kind: 'unsupported',
  body: 'Has a device that their other ones have not confirmed. It can read what you write from now on. If you doubt that it is theirs, ask them by another way.',
};

export const isComparison = ({ type, content }: Decrypted) =>
  type === 'm.room.message' && content.msgtype === 'm.key.verification.request';

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
    // Of calls that have more than two sides, it alone is no state of the room.
    case 'm.rtc.notification':
    case 'org.matrix.msc4075.rtc.notification':
    case 'm.call.notify':
    case 'org.matrix.msc4075.call.notify':
      return unsupported('Called. Calls can’t be taken here.');
    case 'm.poll.start':
    case 'org.matrix.msc3381.poll.start':
      return unsupported(`Sent a poll${quoted(questionOf(content))}, which can’t be shown here.`);
    default:
      return null;
  }
}

/**
 * What an event without encryption says. No text of it is shown, whatever it comes as: of a reaction, which never is encrypted,
 * one sign alone; of Element's request to compare keys our own words.
 */
export function wordsOfPlain(event: Decrypted): Said | null {
  const said = wordsOf(event);
  if (said === null || isComparison(event)) return said;
  if (event.type !== 'm.reaction') return NOT_ENCRYPTED;
  return isOneSign(relation(event.content).key) ? said : unsupported('Reacted.');
}

const signs = new Intl.Segmenter('en', { granularity: 'grapheme' });
/** Signs are joined of some: a family, a flag. */
const LONGEST_SIGN = 32;

const isOneSign = (value: unknown): boolean =>
  typeof value === 'string' && value.length <= LONGEST_SIGN && [...signs.segment(value)].length === 1;

function ofMessage(content: Content): Said {
  const { msgtype } = content;
  if (relation(content).rel_type === 'm.replace') {
    const text = textOf(record(content['m.new_content']).body);
    return unsupported(text === null ? 'Edited a message.' : `Edited a message, which is now: ${text}`);
  }
  const text = textOf(content.body);
  if (typeof msgtype === 'string' && TEXTS.has(msgtype) && text !== null) return { kind: 'text', body: text };
  if (msgtype === 'm.emote' && text !== null) return { kind: 'text', body: clipped(`* ${text}`, LONGEST_BODY) };
  if (msgtype === 'm.key.verification.request') return unsupported('Asked to compare keys, which can’t be done here.');
  if (msgtype === 'm.audio' && VOICE.some((member) => content[member] !== undefined))
    return unsupported('Sent a voice message, which can’t be played here.');
  const what = typeof msgtype === 'string' && Object.hasOwn(FILES, msgtype) ? FILES[msgtype] : undefined;
  if (what !== undefined)
    return unsupported(`Sent ${what}${quoted(nameOf(content))}, which can’t be shown here.${caption(content)}`);
  return unsupported('Sent something that can’t be shown here.');
}

/** Where a file has a name of its own, the body is what was written with it. */
const nameOf = ({ filename, body }: Content) => textOf(filename) ?? body;

function caption({ filename, body }: Content): string {
  const text = textOf(body);
  return textOf(filename) === null || text === null || text === filename ? '' : ` With it: ${text}`;
}

function questionOf(content: Content): unknown {
  const { question } = record(content['m.poll'] ?? content['org.matrix.msc3381.poll.start']);
  const { body, 'm.text': texts, 'org.matrix.msc1767.text': text } = record(question);
  return text ?? body ?? (Array.isArray(texts) ? record(texts[0]).body : undefined);
}

export const DELETED: Said = { kind: 'unsupported', body: 'Deleted a message.' };
/** Reasons for which a device says that it gives no key ("m.room_key.withheld"). */
const WITHHELD: Readonly<Record<string, string>> = {
  'm.unverified': ': their app gives keys to verified devices alone. They can change that in its settings',
  'm.blacklisted': ': they have blocked the device of this account',
  'm.unauthorised': ': their app doesn’t give its key to this account',
  'm.unavailable': ': their app no longer has its key',
};

/** @param withheld the reason for which there is no key, where one was given */
export const unreadable = (withheld: string | null): Said => {
  const why = withheld !== null && Object.hasOwn(WITHHELD, withheld) ? WITHHELD[withheld] : '';
  return { kind: 'unsupported', body: `Sent a message that can’t be decrypted${why}.` };
};
export const EARLIER: Said = { kind: 'unsupported', body: 'Earlier messages of this room can’t be read here.' };
export const MISSED: Said = {
  kind: 'unsupported',
  body: 'Some messages are missing here: their server did not give them.',
};
export const KEYS_CHANGED: Said = {
  kind: 'unsupported',
  body: 'Has new encryption keys. Usually somebody has set up encryption anew; it can also be somebody else who acts as them. If it matters, ask them by another way.',
};
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

type Content = Readonly<Record<string, unknown>>;

const record = (value: unknown): Content => (typeof value === 'object' && value !== null ? (value as Content) : {});
const relation = (content: Content) => record(content['m.relates_to']);

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
