// Reads the parameters of a bridge method: every member named, typed and bounded, an unknown one is an error.
// Hand-written rather than zod: these few shapes cost a hundredth of its weight in the first load.
import { BRIDGE_LIMITS, type SearchEntry } from '@platform/contract';
import { HARMFUL } from '@platform/contract/plain-text';
import { isPlace } from './place.ts';
import { isPlainObject, type PlainObject } from './plain-data.ts';
import { BridgeRefusal } from './refusal.ts';

/** Gives the value of one parameter. @throws BridgeRefusal `invalid_request` naming it */
export type Reader<Value> = (value: unknown, name: string) => Value;
/** A reader for each parameter; `optional` ones also take `undefined`. */
export type Readers<Params> = { readonly [Key in keyof Params]-?: Reader<Params[Key]> };

function invalid(message: string): BridgeRefusal {
  return new BridgeRefusal('invalid_request', message);
}

/** @throws BridgeRefusal `invalid_request` naming the first wrong member */
export function readParams<Params>(readers: Readers<Params>, value: unknown): Params {
  const members = value ?? {};
  if (!isPlainObject(members)) throw invalid('`params` must be an object.');
  for (const key of Object.keys(members)) {
    if (!Object.hasOwn(readers, key)) throw invalid(`\`params\` has an unknown member \`${key.slice(0, 40)}\`.`);
  }
  const result: Record<string, unknown> = {};
  for (const [key, read] of Object.entries<Reader<unknown>>(readers)) {
    const member = read(Object.hasOwn(members, key) ? members[key] : undefined, key);
    if (member !== undefined) result[key] = member;
  }
  // Each member was produced by the reader of the same name.
  return result as Params;
}

export function optional<Value>(read: Reader<Value>): Reader<Value | undefined> {
  return (value, name) => (value === undefined ? undefined : read(value, name));
}

export function text(pattern: RegExp, meaning: string): Reader<string> {
  return (value, name) => {
    if (typeof value !== 'string' || !pattern.test(value)) throw invalid(`\`${name}\` must be ${meaning}.`);
    return value;
  };
}

/** A file: a handle, of which the shell reads nothing but its size. */
export const blob: Reader<Blob> = (value, name) => {
  if (!(value instanceof Blob)) throw invalid(`\`${name}\` must be a Blob.`);
  return value;
};

export function oneOf<const Values extends readonly string[]>(values: Values): Reader<Values[number]> {
  return (value, name) => {
    const found = values.find((candidate) => candidate === value);
    if (found === undefined) throw invalid(`\`${name}\` must be one of ${values.join(', ')}.`);
    return found;
  };
}

export function wholeNumber(minimum: number, maximum: number): Reader<number> {
  return (value, name) => {
    if (typeof value !== 'number' || !Number.isInteger(value) || value < minimum || value > maximum) {
      throw invalid(`\`${name}\` must be a whole number from ${minimum} to ${maximum}.`);
    }
    return value;
  };
}

export function truth(): Reader<boolean> {
  return (value, name) => {
    if (typeof value !== 'boolean') throw invalid(`\`${name}\` must be true or false.`);
    return value;
  };
}

/** Any object; that it is plain data of bounded size was seen when the message came (plain-data.ts). */
export const plainObject: Reader<PlainObject> = (value, name) => {
  if (!isPlainObject(value)) throw invalid(`\`${name}\` must be an object.`);
  return value;
};

/** Text that is JSON, as it came: what it says is the app's own business. */
export const jsonText: Reader<string> = (value, name) => {
  if (typeof value === 'string' && isJson(value)) return value;
  throw invalid(`\`${name}\` must be JSON text.`);
};

function isJson(value: string): boolean {
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
}

// The patterns of the contract's schemas, which the first load cannot carry: zod is too heavy.
export const appIdText = text(/^(?=.{3,40}$)[a-z0-9]+(-[a-z0-9]+)*$/, 'an app id');
/** Distinct ones, as many as core keeps (`homeTiles`). */
export const appIdList: Reader<string[]> = (value, name) => {
  const wrong = `\`${name}\` must be a list of at most 500 distinct app ids.`;
  if (!Array.isArray(value) || value.length > 500 || new Set(value).size < value.length) throw invalid(wrong);
  return value.map((appId) => appIdText(appId, name));
};
export const versionText = text(/^\d{1,9}\.\d{1,9}\.\d{1,9}(?:[-+][0-9A-Za-z.+-]{1,50})?$/, 'a version such as 1.0.0');
export const targetText = text(/^\?[\w\-.~!$&'()*+,;=:@%/?]{0,511}$/, 'a query string that starts with ?');
export const toolNameText = text(/^[A-Za-z0-9_.-]{1,200}$/, 'the name of a tool');
export const topicText = text(/^[a-z0-9._-]{1,64}$/, 'a notification topic');
export const notificationIdText = text(/^ntf-[0-9a-f-]{36}$/, 'a notification id');
export const draftIdText = text(/^drf-[0-9a-f-]{36}$/, 'the id of a draft');
export const proposalIdText = text(/^prop-[\w-]{1,64}$/, 'the id of a proposal');
export const invitationIdText = text(/^inv-[0-9a-f-]{36}$/, 'the id of an invitation');
export const accountNameText = text(/^(?=.{3,32}$)[a-z][a-z0-9]*(-[a-z0-9]+)*$/, 'the name of an account');
export const contactIdText = text(/^ctc-[0-9a-f-]{36}$/, 'the id of a contact');
/** Core says what is an address. */
export const addressText = text(/^(?=.*\S)[^\p{Cc}]{1,255}$/u, 'an address of 1 to 255 characters');
export const cursorText = text(/^[\w\-.~=]{1,512}$/, 'a cursor');
/** One line a person reads: no control characters, no bidirectional overrides that could fake the shell's own words. */
export const titleText = text(new RegExp(`^[^${HARMFUL}]{0,60}$`, 'u'), 'one line of at most 60 characters');
export const labelText = text(new RegExp(`^[^${HARMFUL}]{0,100}$`, 'u'), 'one line of at most 100 characters');
export const noteText = text(
  new RegExp(`^(?:[^${HARMFUL}]|[\\t\\r\\n]){0,1000}$`, 'u'),
  'a note of at most 1,000 characters',
);
/** As it is shown is as it is saved: browsers would replace slashes. */
export const fileNameText = text(
  new RegExp(`^(?=.*[^\\s.])[^${HARMFUL}/\\\\]{1,200}$`, 'u'),
  'a file name of 1 to 200 characters in one line, without slashes',
);
export const transferAccess = oneOf(['read', 'write']);
/** The search box shows it beside the shell's own words. */
export const queryText = text(new RegExp(`^(?=.*\\S)[^${HARMFUL}]{1,200}$`, 'u'), 'a search of 1 to 200 characters');
/** As browsers write it: host in punycode, everything beyond ASCII percent-encoded, so that what is shown is what opens. */
export const linkText: Reader<string> = (value, name) => {
  const wrong = invalid(`\`${name}\` must be an https address of at most 2,048 characters, without a user name.`);
  if (typeof value !== 'string' || !URL.canParse(value)) throw wrong;
  const { href, protocol, username, password } = new URL(value);
  if (protocol !== 'https:' || username !== '' || password !== '' || href.length > 2_048) throw wrong;
  return href;
};
export const placeText: Reader<string> = (value, name) => {
  if (typeof value === 'string' && isPlace(value)) return value;
  throw invalid(
    `\`${name}\` must be path, query and fragment of a page of this app, at most ${BRIDGE_LIMITS.placeCharacters} characters.`,
  );
};

const ENTRY_MEMBERS = ['id', 'title', 'kind', 'url', 'text'] as const;

/** Core says what is an entry; here it is bounded what the shell passes on. */
export const searchEntries: Reader<SearchEntry[]> = (value, name) => {
  const { entries, characters } = BRIDGE_LIMITS.searchIndex;
  if (!Array.isArray(value) || value.length > entries)
    throw invalid(`\`${name}\` must be a list of at most ${entries}.`);
  let size = 0;
  for (const one of value) {
    if (!isPlainObject(one)) throw invalid(`\`${name}\` must be a list of objects.`);
    for (const [member, content] of Object.entries(one)) {
      if (!ENTRY_MEMBERS.some((known) => known === member) || typeof content !== 'string')
        throw invalid(`\`${name}\` must have ${ENTRY_MEMBERS.join(', ')} as texts, and nothing else.`);
      size += content.length;
    }
    if (size > characters)
      throw invalid(`\`${name}\` must have at most ${characters.toLocaleString('en-US')} characters in all.`);
  }
  return value;
};
