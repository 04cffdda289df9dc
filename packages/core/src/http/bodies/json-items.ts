// Reads a JSON body that is too large to be held: the items of one list in it are handed on as they come, everything
// else is kept, and every value is what JSON.parse makes of it (__proto__ as own data). No member is named twice.
import { isStorable, limits, refuse } from '@platform/contract';
import { getManyValues, isMany, none } from 'stream-chain/defs.js';
import { jsonParser, type Token } from 'stream-json/core/parser.js';

/** Characters of one item, or of all that stands beside the list. */
const MOST_HELD = limits.searchBodyEntry.value;

export interface ItemsReader {
  /** An item of the list, as JSON.parse would have made it. */
  item(value: unknown): void;
}

export interface JsonRest {
  /** The body, with an empty list. */
  readonly value: unknown;
  /** Items that were handed on; `null` where the member is no list, or absent. */
  readonly count: number | null;
  /** NUL or half of a surrogate pair stands somewhere in it. */
  readonly unstorable: boolean;
}

interface Open {
  readonly value: unknown[] | Record<string, unknown>;
  key: string;
}

/**
 * Reads the text of a body. Only what a token needs is held, and never more than `limits.searchBodyEntry` allows.
 *
 * @param member the list's, of the object that the body is
 * @throws RefusalError `invalid_request` for text that is not JSON, names a member twice, is too deep, or too large to be held; what `chunks` or
 *   the reader throws
 */
export function readJsonItems(chunks: Iterable<string>, member: string, reader: ItemsReader): JsonRest {
  const reading = new Reading(member, reader);
  const parse = jsonParser({ packValues: true, streamValues: false });
  const tokensOf = (text: string | typeof none): readonly Token[] => {
    try {
      const parsed = parse(text as string);
      return isMany(parsed) ? (getManyValues(parsed) as Token[]) : [];
    } catch {
      throw refuse('invalid_request', 'The body is not valid JSON.');
    }
  };
  for (const chunk of chunks) {
    const tokens = tokensOf(chunk);
    for (const token of tokens) reading.token(token);
    // A string or number that does not end is held by the parser.
    if (tokens.length === 0 && /\S/.test(chunk)) reading.hold(chunk.length);
  }
  for (const token of tokensOf(none)) reading.token(token);
  return reading.rest;
}

class Reading {
  readonly #member: string;
  readonly #reader: ItemsReader;
  readonly #open: Open[] = [];
  /** The list whose items are handed on; it stays empty. */
  #list: unknown[] | null = null;
  #count = 0;
  #root: unknown;
  /** Characters of the item that is being read, and of what stands beside the list. */
  #held = 0;
  #beside = 0;
  #unstorable = false;

  constructor(member: string, reader: ItemsReader) {
    this.#member = member;
    this.#reader = reader;
  }

  get rest(): JsonRest {
    const root = this.#root;
    const isThere = isObject(root) && this.#list !== null && root[this.#member] === this.#list;
    return { value: root, count: isThere ? this.#count : null, unstorable: this.#unstorable };
  }

  token(token: Token): void {
    switch (token.name) {
      case 'startObject':
        this.#begin({});
        return;
      case 'startArray':
        this.#begin([]);
        return;
      case 'endObject':
      case 'endArray':
        this.#end();
        return;
      case 'keyValue': {
        const top = this.#open.at(-1);
        if (top !== undefined) top.key = this.#text(token.value);
        return;
      }
      case 'stringValue':
        this.#place(this.#text(token.value));
        return;
      case 'numberValue':
        this.hold(token.value.length);
        this.#place(Number(token.value));
        return;
      case 'trueValue':
      case 'falseValue':
      case 'nullValue':
        this.hold(1);
        this.#place(token.value);
        return;
      default:
        throw new Error(`the parser was not asked for ${token.name}`);
    }
  }

  hold(characters: number): void {
    this.#held += characters;
    if (this.#held > MOST_HELD)
      throw refuse(
        'invalid_request',
        `One item of \`${this.#member}\`, or what stands beside that list, has more than ${MOST_HELD} characters.`,
      );
  }

  #text(text: string): string {
    // Its quotes count, so that empty ones do.
    this.hold(text.length + 2);
    if (!isStorable(text)) this.#unstorable = true;
    return text;
  }

  #begin(value: Open['value']): void {
    if (this.#open.length >= limits.jsonDepth.value)
      throw refuse('invalid_request', `The body is nested deeper than ${limits.jsonDepth.value} levels.`);
    this.hold(1);
    const [root] = this.#open;
    const isList = this.#open.length === 1 && Array.isArray(value) && !Array.isArray(root?.value);
    if (isList && root?.key === this.#member) {
      if (this.#list !== null) throw refuse('invalid_request', 'The body names a member twice.');
      this.#list = value;
      this.#count = 0;
    }
    this.#open.push({ value, key: '' });
  }

  #end(): void {
    const ended = this.#open.pop();
    if (ended !== undefined) this.#place(ended.value);
  }

  #place(value: unknown): void {
    const parent = this.#open.at(-1);
    if (parent === undefined) this.#root = value;
    else if (parent.value === this.#list) {
      this.#count += 1;
      this.#held = this.#beside;
      this.#reader.item(value);
    } else if (Array.isArray(parent.value)) parent.value.push(value);
    else {
      if (Object.hasOwn(parent.value, parent.key)) throw refuse('invalid_request', 'The body names a member twice.');
      const own = { value, enumerable: true, writable: true, configurable: true };
      Object.defineProperty(parent.value, parent.key, own);
    }
    if (this.#open.length < 2) this.#beside = this.#held;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
