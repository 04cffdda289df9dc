// Checks a large body that lies in a file, item by item, and writes its items to another one: a line of JSON each, as
// the schema made them. Runs in a thread, and holds one item at a time.
import { appendFileSync, closeSync, openSync, readSync } from 'node:fs';
import {
  type FieldError,
  fieldErrors,
  type JsonBody,
  MOST_ERRORS,
  notValid,
  refuse,
  type StreamedMember,
} from '@platform/contract';
import * as z from 'zod';
import { type ItemsReader, type JsonRest, readJsonItems } from './json-items.ts';

/** Read and written at a time, in bytes and UTF-16 units. */
const PIECE = 64 * 1024;

/**
 * @param from the body as it arrived
 * @param to written anew; holds nothing of use when the body is refused
 * @returns the keys of the items, in order
 * @throws RefusalError `invalid_request`
 */
export function checkItems(body: JsonBody, from: string, to: string): readonly string[] {
  const { streams } = body;
  if (streams === undefined) throw new Error('this body is not read item by item');
  const [input, output] = [openSync(from, 'r'), openSync(to, 'ax', 0o600)];
  try {
    const items = new CheckedItems(streams, output);
    const rest = readJsonItems(textOf(input), streams.member, items);
    items.flush();
    return items.end(body, rest);
  } finally {
    closeSync(input);
    closeSync(output);
  }
}

function* textOf(file: number): Generator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const buffer = Buffer.alloc(PIECE);
  const decode = (bytes?: Uint8Array): string => {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined });
    } catch {
      throw refuse('invalid_request', 'The body is not valid UTF-8.');
    }
  };
  for (let size = readSync(file, buffer); size > 0; size = readSync(file, buffer)) {
    const text = decode(buffer.subarray(0, size));
    if (text !== '') yield text;
  }
  decode();
}

class CheckedItems implements ItemsReader {
  readonly #streams: StreamedMember;
  readonly #file: number;
  readonly #keys = new Set<string>();
  #count = 0;
  readonly #errors: FieldError[] = [];
  #lines = '';

  constructor(streams: StreamedMember, file: number) {
    this.#streams = streams;
    this.#file = file;
  }

  item(value: unknown): void {
    const { member, item, most, key } = this.#streams;
    const place = this.#count;
    this.#count += 1;
    // It is refused already; what follows is still read, for faults of the text itself.
    if (place >= most || this.#errors.length >= MOST_ERRORS) return;
    const parsed = item.safeParse(value);
    if (!parsed.success) {
      this.#errors.push(...fieldErrors(parsed.error, [member, place]));
      return;
    }
    this.#keys.add(String((parsed.data as Readonly<Record<string, unknown>>)[key]));
    this.#lines += `${JSON.stringify(parsed.data)}\n`;
    if (this.#lines.length >= PIECE) this.flush();
  }

  flush(): void {
    appendFileSync(this.#file, this.#lines);
    this.#lines = '';
  }

  end({ schema }: JsonBody, { value, count, unstorable }: JsonRest): readonly string[] {
    if (unstorable) throw refuse('invalid_request', 'The body holds NUL (U+0000) or half of a surrogate pair.');
    const errors = [...this.#errors, ...(count === null ? outsideOf(schema, value) : this.#listErrors(value, count))];
    if (errors.length > 0) throw notValid('The body', errors.slice(0, MOST_ERRORS));
    return [...this.#keys];
  }

  /** What is wrong with the list as a whole, and with what stands beside it. */
  #listErrors(value: unknown, count: number): FieldError[] {
    const { member, fewest, most, key } = this.#streams;
    const list = z.array(z.unknown()).min(fewest).max(most);
    const items = Array.from({ length: Math.min(count, most + 1) });
    const errors = outsideOf(z.strictObject({ [member]: list }), { ...(value as object), [member]: items });
    const isRepeated = this.#errors.length === 0 && count <= most && this.#keys.size < count;
    return isRepeated ? [{ path: member, message: `must have distinct ${key}s` }, ...errors] : errors;
  }
}

function outsideOf(schema: z.ZodType, value: unknown): FieldError[] {
  const { error } = schema.safeParse(value);
  return error === undefined ? [] : fieldErrors(error);
}
