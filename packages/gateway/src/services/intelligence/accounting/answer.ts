// Reads an answer as what it is, whatever its head says of it: one JSON text, objects line by line, server-sent events, or
// plain text.
import { Pile } from '@platform/contract/pile';
import type { Room } from '../../room.ts';
import { fieldOf, parsed, readLines } from './events.ts';

/** A whole answer beyond this is not read. */
export const LONGEST_ANSWER = 16 * 1024 * 1024;
/** Fields of events other than `data` are names and numbers: what is longer counts. */
const LONGEST_FIELD = 64;
/** Of the lines of one event, each of which costs something beside. */
const LONGEST_EVENT = 1024 * 1024;
const LINE_COST = 64;
const FIELDS = ['event', 'id', 'retry', ''];
const BLANK = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf]);
const OPENING = new Set([0x7b, 0x5b]);

export interface AnswerReader {
  chunk(bytes: Buffer): void;
  /** @param isWhole nothing of it is missing */
  end(isWhole: boolean): void;
}

export interface AnswerParts {
  /** Gets the whole answer, or one event of it: what was sent as one JSON text. */
  event(value: unknown): void;
  /** Gets the number of bytes that could not be read. */
  unread(bytes: number): void;
}

/** @param room for an answer in one piece, which is kept until its end */
export function readAnswer(isEvents: boolean, room: Room, { event, unread }: AnswerParts): AnswerReader {
  let reader: AnswerReader | null = null;
  return {
    chunk(bytes) {
      if (reader === null) {
        const first = bytes.find((byte) => !BLANK.has(byte));
        if (first === undefined) return;
        const take = (value: unknown) => {
          for (const one of Array.isArray(value) ? value : [value]) event(one);
        };
        reader = OPENING.has(first)
          ? readPiece(room, { event: take, unread })
          : readEvents(isEvents, { event: take, unread });
      }
      reader.chunk(bytes);
    },
    end: (isWhole) => reader?.end(isWhole),
  };
}

function readPiece(room: Room, parts: AnswerParts): AnswerReader {
  let length = 0;
  const kept = new Pile();
  let isKept = true;
  return {
    chunk(bytes) {
      length += bytes.length;
      isKept &&= length <= LONGEST_ANSWER && kept.tryAdd(bytes, room.take);
    },
    end(isWhole) {
      const value = isKept && isWhole ? parsed(withoutMark(kept.bytes().toString('utf8'))) : undefined;
      if (!isKept) parts.unread(length);
      if (value !== undefined) parts.event(value);
      if (!isKept || value !== undefined) return;
      // Objects line by line; of a piece of one JSON text nothing is an object.
      const lines = readEvents(false, parts);
      lines.chunk(kept.bytes());
      lines.end(isWhole);
    },
  };
}

/** @param isEvents it says so of itself: fields other than `data`, and comments, are no text then */
function readEvents(isEvents: boolean, { event, unread }: AnswerParts): AnswerReader {
  let data: string[] = [];
  let length = 0;

  function takeData(text: string): void {
    const value = parsed(text);
    if (value !== undefined) event(value);
    else if (text.trim() !== '[DONE]') unread(Buffer.byteLength(text));
  }

  /** An event in one line does not wait for its end, which some forget. */
  function addData(text: string): void {
    const value = data.length === 0 ? parsed(text) : undefined;
    if (value !== undefined) event(value);
    else {
      data.push(text);
      length += text.length + LINE_COST;
      if (length > LONGEST_EVENT) flush();
    }
  }

  function flush(): void {
    const value = parsed(data.join('\n'));
    if (value !== undefined) event(value);
    else for (const line of data) takeData(line);
    data = [];
    length = 0;
  }

  function take(line: string): void {
    const text = fieldOf(line, 'data');
    if (line === '') flush();
    else if (text !== null) addData(text);
    else takeOther(line);
  }

  function takeOther(line: string): void {
    const field = isEvents ? FIELDS.map((name) => fieldOf(line, name)).find((value) => value !== null) : undefined;
    const value = parsed(line);
    if (field != null) unread(Math.max(0, Buffer.byteLength(field) - LONGEST_FIELD));
    else if (value === undefined) unread(Buffer.byteLength(line));
    else event(value);
  }

  const lines = readLines((line) => take(withoutMark(line)), unread);
  return {
    chunk: (bytes) => lines.chunk(bytes),
    end() {
      lines.end();
      flush();
    },
  };
}

function withoutMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}
