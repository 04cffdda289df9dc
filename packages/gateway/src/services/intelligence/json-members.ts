// Finds members of a JSON object in its bytes, so that a body can be decided on and changed in one place without being
// written anew: numbers and strings of the rest stay exactly as the app sent them.

export interface Place {
  readonly start: number;
  readonly end: number;
}

export interface Members {
  /** The body, for values. */
  readonly body: Buffer;
  /** By name. */
  readonly places: ReadonlyMap<string, Place>;
  /** Right behind the opening brace. */
  readonly first: number;
  readonly isEmpty: boolean;
}

/** What is wrong with a body, as a sentence. */
export class UnreadableBody extends Error {
  override readonly name = 'UnreadableBody';
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;
const MOST_DEPTH = 512;
const LONGEST_KEY = 4_096;
/** Of the outermost object: more than any provider has names for. */
const MOST_MEMBERS = 10_000;
/** Of a member that is looked for, unless only its elements are counted. */
const LONGEST_VALUE = 64 * 1024;
/** Bytes read between two turns of the event loop. */
const TURN_BYTES = 512 * 1024;
/** Strings of so many escaped quotes are read in turns too. */
const TURN_QUOTES = 16_384;

/** Bytes that JSON has outside of strings, besides brackets. */
const SCALAR = tableOf('0123456789+-.eEtrufalsn');
const SPACE = tableOf(' \t\r\n');
const STRICT_UTF8 = new TextDecoder('utf-8', { fatal: true });

/** 1 for each of the bytes. */
function tableOf(bytes: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const byte of Buffer.from(bytes)) table[byte] = 1;
  return table;
}

/** As servers that ignore the case of names compare them, such as those written in Go. */
function folded(name: string): string {
  return name.toLowerCase().toUpperCase();
}

/**
 * Reads the outermost object.
 *
 * @param names members looked for. One that is there twice, or in another case, is refused: which of them counts would be
 *   for the provider to choose
 * @throws UnreadableBody
 */
export async function findMembers(body: Buffer, names: ReadonlySet<string>): Promise<Members> {
  const reading = read(body, new Map([...names].map((name) => [folded(name), name])));
  return inTurns(reading);
}

/** Others get their turn whenever it yields. */
async function inTurns<Result>(reading: Generator<undefined, Result>): Promise<Result> {
  for (;;) {
    const { done, value } = reading.next();
    if (done === true) return value;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/**
 * How many texts the list of a member has, up to `most` + 1; 1 for anything else, such as a text or one that is a list of
 * numbers.
 */
export async function elementCount({ body, places }: Members, name: string, most: number): Promise<number> {
  const place = places.get(name);
  return place === undefined || body[place.start] !== OPEN_LIST ? 1 : inTurns(countTexts(body, place.start, most));
}

function* countTexts(body: Buffer, from: number, most: number): Generator<undefined, number> {
  let at = skipSpace(body, from + 1);
  if (body[at] !== QUOTE && body[at] !== OPEN_LIST) return 1;
  for (let count = 1; count <= most; count += 1) {
    at = skipSpace(body, yield* endOfValue(body, at));
    if (body[at] !== COMMA) return count;
    at = skipSpace(body, at + 1);
  }
  return most + 1;
}

function* read(body: Buffer, wanted: ReadonlyMap<string, string>): Generator<undefined, Members> {
  const places = new Map<string, Place>();
  let at = skipSpace(body, 0);
  if (body[at] !== OPEN) throw new UnreadableBody('The body must be a JSON object.');
  at += 1;
  const first = at;
  at = skipSpace(body, at);
  const isEmpty = body[at] === CLOSE;
  for (let count = 1; !isEmpty; count += 1) {
    if (count > MOST_MEMBERS) throw new UnreadableBody(`The body may have at most ${MOST_MEMBERS} members.`);
    if (count % 1_000 === 0) yield;
    if (body[at] !== QUOTE) throw broken();
    const keyEnd = yield* endOfString(body, at);
    const key = textOf(body, { start: at, end: Math.min(keyEnd, at + LONGEST_KEY) }, keyEnd - at > LONGEST_KEY);
    at = skipSpace(body, keyEnd);
    if (body[at] !== COLON) throw broken();
    const start = skipSpace(body, at + 1);
    const end = yield* endOfValue(body, start);
    const name = wanted.get(folded(key));
    if (name !== undefined) {
      if (name !== key || places.has(name))
        throw new UnreadableBody(`The body must have the member ${name} once, in this spelling.`);
      places.set(name, { start, end });
    }
    at = skipSpace(body, end);
    if (body[at] === CLOSE) break;
    if (body[at] !== COMMA) throw broken();
    at = skipSpace(body, at + 1);
  }
  if (skipSpace(body, at + 1) !== body.length) throw broken();
  return { body, places, first, isEmpty };
}

function broken(): UnreadableBody {
  return new UnreadableBody('The body is not valid JSON.');
}

function skipSpace(body: Buffer, from: number): number {
  let at = from;
  while (at < body.length && SPACE[body[at] ?? 0] === 1) at += 1;
  return at;
}

/** @param from its opening quote. @returns the place behind its closing one */
function* endOfString(body: Buffer, from: number): Generator<undefined, number> {
  let at = from + 1;
  for (let quotes = 1; ; quotes += 1) {
    if (quotes % TURN_QUOTES === 0) yield;
    const quote = body.indexOf(QUOTE, at);
    if (quote === -1) throw broken();
    let backslashes = 0;
    while (body[quote - 1 - backslashes] === BACKSLASH && quote - 1 - backslashes > from) backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
    at = quote + 1;
  }
}

/** Brackets must match and no byte may be there that JSON has not; whether the rest is in order is the provider's. */
function* endOfValue(body: Buffer, from: number): Generator<undefined, number> {
  const open: number[] = [];
  let at = from;
  let turn = from + TURN_BYTES;
  while (at < body.length) {
    if (at >= turn) {
      turn = at + TURN_BYTES;
      yield;
    }
    const byte = body[at] ?? 0;
    if (byte === QUOTE) at = yield* endOfString(body, at);
    else if (byte === OPEN || byte === OPEN_LIST) {
      open.push(byte === OPEN ? CLOSE : CLOSE_LIST);
      if (open.length > MOST_DEPTH) throw new UnreadableBody('The body is nested too deeply.');
      at += 1;
    } else if (byte === CLOSE || byte === CLOSE_LIST) {
      if (open.pop() !== byte) throw broken();
      at += 1;
    } else if (SCALAR[byte] === 1) at = endOfScalar(body, at);
    else if (open.length > 0 && (byte === COMMA || byte === COLON || SPACE[byte] === 1)) {
      at += 1;
      continue;
    } else throw broken();
    if (open.length === 0) return at;
  }
  throw broken();
}

function endOfScalar(body: Buffer, from: number): number {
  let at = from;
  while (at < body.length && SCALAR[body[at] ?? 0] === 1) at += 1;
  return at;
}

/** A key; a longer one is none that anybody looks for. */
function textOf(body: Buffer, place: Place, isCut: boolean): string {
  return isCut ? '' : String(valueAt(body, place));
}

/** @throws UnreadableBody when it is not valid JSON */
export function valueAt(body: Buffer, { start, end }: Place): unknown {
  try {
    return JSON.parse(STRICT_UTF8.decode(body.subarray(start, end)));
  } catch {
    throw broken();
  }
}

/** The value of a member; `undefined` when it is not there. @throws UnreadableBody when it is long, or not valid JSON */
export function memberValue({ body, places }: Members, name: string): unknown {
  const place = places.get(name);
  if (place === undefined) return undefined;
  if (place.end - place.start > LONGEST_VALUE) throw new UnreadableBody(`The member ${name} is too long.`);
  return valueAt(body, place);
}

/** The body with members set to other values; everything else stays byte for byte. */
export function withMembers(members: Members, values: Readonly<Record<string, unknown>>): Buffer {
  const { body, places, first, isEmpty } = members;
  const entries = Object.entries(values);
  const added = entries.filter(([name]) => !places.has(name));
  const changes = entries.flatMap(([name, value]) => {
    const place = places.get(name);
    return place === undefined ? [] : [{ ...place, text: JSON.stringify(value) }];
  });
  if (added.length > 0) {
    const text = added.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',');
    changes.push({ start: first, end: first, text: isEmpty ? text : `${text},` });
  }
  changes.sort((one, other) => one.start - other.start);
  const parts: Buffer[] = [];
  let at = 0;
  for (const { start, end, text } of changes) {
    parts.push(body.subarray(at, start), Buffer.from(text));
    at = end;
  }
  return Buffer.concat([...parts, body.subarray(at)]);
}
