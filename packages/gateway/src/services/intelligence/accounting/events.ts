// The lines of server-sent events, and of everything that comes line by line, taken from bytes as they pass.
import { Pile } from '@platform/contract/pile';

/** Of one line. What is longer is not kept. */
const LONGEST_LINE = 1024 * 1024;
const LF = 0x0a;
const CR = 0x0d;

export interface LineReader {
  chunk(bytes: Buffer): void;
  /** The rest is a line as well. */
  end(): void;
}

/**
 * Lines that end as server-sent events may: in CR, LF or both.
 *
 * @param take gets each line without its end
 * @param skip gets the number of bytes of a line that is too long
 */
export function readLines(take: (line: string) => void, skip: (bytes: number) => void): LineReader {
  const begun = new Pile();
  let isTooLong = false;
  let afterReturn = false;

  function add(part: Buffer): void {
    if (!isTooLong && begun.length + part.length > LONGEST_LINE) {
      isTooLong = true;
      skip(begun.length);
      begun.clear();
    }
    if (isTooLong) skip(part.length);
    else begun.add(part);
  }

  function finish(): void {
    if (!isTooLong) take(begun.bytes().toString('utf8'));
    begun.clear();
    isTooLong = false;
  }

  return {
    chunk(bytes) {
      let start = 0;
      for (let at = 0; at < bytes.length; at += 1) {
        const byte = bytes[at];
        if (byte === LF && afterReturn) start = at + 1;
        else if (byte === LF || byte === CR) {
          if (at > start) add(bytes.subarray(start, at));
          finish();
          start = at + 1;
        }
        afterReturn = byte === CR;
      }
      if (start < bytes.length) add(bytes.subarray(start));
    },
    end() {
      if (begun.length > 0 || isTooLong) finish();
    },
  };
}

/** The text of a field of an event; `null` when the line is not that field. */
export function fieldOf(line: string, name: string): string | null {
  if (line === name) return '';
  if (!line.startsWith(`${name}:`)) return null;
  return line.slice(name.length + 1).replace(/^ /, '');
}

/**
 * An object or a list that is sent as JSON; `undefined` for anything else, such as the `[DONE]` at the end.
 *
 * @param revive as of `JSON.parse`
 */
export function parsed(data: string, revive?: (name: string, value: unknown) => unknown): unknown {
  if (!/^\s*[{[]/.test(data)) return undefined;
  try {
    return JSON.parse(data, revive);
  } catch {
    return undefined;
  }
}
