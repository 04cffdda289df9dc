// Turns a workload's raw output into log lines, and keeps a flood from costing the platform processor time or memory.
import type { Readable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { type LogEntry, limits } from '@platform/contract';
import type { LogWriter } from './log-store.ts';

const LONGEST_LINE = limits.workloadLogLine.value;
const NEWLINE = 0x0a;
/** Beyond this many lines in a second, lines are counted instead of kept. */
const LINES_PER_SECOND = 1_000;
/** Beyond this many bytes in a tenth of a second, the workload waits: its pipe is not read for the rest of it. */
const BYTES_PER_TENTH = 512 * 1024;

/** One intake for both streams of a workload, since they share the allowance. */
export interface LogIntake {
  take(stream: Readable, name: 'stdout' | 'stderr'): void;
  /** Resolves when both streams have ended and everything is handed on. */
  ended(): Promise<void>;
  /** Lines that were too many to be kept, so far. */
  dropped(): number;
}

/** `milliseconds` is a time that never goes back, from any beginning. */
export function createLogIntake(writer: LogWriter, milliseconds: () => number = () => performance.now()): LogIntake {
  const allowance = createAllowance(writer, milliseconds);
  const endings: Promise<void>[] = [];
  return {
    take(stream, name) {
      const splitter = createSplitter((line) => allowance.line(name, line));
      stream.on('data', (chunk: Buffer) => {
        splitter.push(chunk);
        allowance.bytes(chunk.length, stream);
      });
      endings.push(
        new Promise((resolve) => {
          stream.once('close', () => {
            splitter.end();
            resolve();
          });
        }),
      );
      stream.resume();
    },
    async ended() {
      await Promise.all(endings);
      allowance.end();
      await writer.settled();
    },
    dropped: allowance.dropped,
  };
}

/** Splits bytes into lines; of a line that is too long it keeps the beginning only. */
function createSplitter(emit: (line: string) => void): { push(chunk: Buffer): void; end(): void } {
  let kept: Buffer[] = [];
  let length = 0;
  let cut = false;

  const add = (part: Buffer) => {
    const room = LONGEST_LINE - length;
    if (part.length > room) cut = true;
    if (room <= 0 || part.length === 0) return;
    // A copy, or a few bytes would hold on to the whole chunk they came in.
    const piece = Buffer.from(part.subarray(0, room));
    kept.push(piece);
    length += piece.length;
  };
  const finish = () => {
    const text = harmless(Buffer.concat(kept).toString('utf8').replace(/\r$/, ''));
    emit(cut ? `${text}…` : text);
    kept = [];
    length = 0;
    cut = false;
  };
  return {
    push(chunk) {
      let start = 0;
      for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
        add(chunk.subarray(start, end));
        finish();
        start = end + 1;
      }
      add(chunk.subarray(start));
    },
    end() {
      if (length > 0) finish();
    },
  };
}

/**
 * Removes terminal control: an app must not change the title, clipboard or screen of a person who reads its log with
 * `cat`. Escape sequences are dropped; other control characters are replaced by their Unicode pictures.
 */
function harmless(text: string): string {
  return stripVTControlCharacters(text).replaceAll(/[\0-\x08\x0a-\x1f\x7f-\x9f]/g, picture);
}

function picture(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? '\u2421' : '\ufffd';
}

function createAllowance(writer: LogWriter, milliseconds: () => number) {
  let second = 0;
  let lines = 0;
  /** Not reported in the log yet. */
  let dropped = 0;
  let droppedInAll = 0;
  let hadRoom = true;
  let reporting: NodeJS.Timeout | undefined;
  let tenth = 0;
  let bytes = 0;

  const reportDropped = () => {
    clearTimeout(reporting);
    reporting = undefined;
    if (dropped === 0) return;
    const why = hadRoom ? `more than ${LINES_PER_SECOND} lines in one second` : 'the disk of the machine was full';
    if (!writer.append('system', `${dropped} lines were dropped: ${why}.`)) return;
    dropped = 0;
    hadRoom = true;
  };
  return {
    line(stream: LogEntry['stream'], line: string) {
      const now = Math.floor(milliseconds() / 1000);
      if (now !== second) {
        reportDropped();
        second = now;
        lines = 0;
      }
      lines += 1;
      if (lines <= LINES_PER_SECOND && writer.append(stream, line)) return;
      if (writer.diskFull()) hadRoom = false;
      dropped += 1;
      droppedInAll += 1;
      // The next line may never come, so a timer reports it.
      reporting ??= setTimeout(reportDropped, 1_000).unref();
    },
    bytes(count: number, stream: Readable) {
      const now = Math.floor(milliseconds() / 100);
      if (now !== tenth) {
        tenth = now;
        bytes = 0;
      }
      bytes += count;
      if (bytes <= BYTES_PER_TENTH) return;
      stream.pause();
      setTimeout(() => stream.resume(), 100);
    },
    end: reportDropped,
    dropped: () => droppedInAll,
  };
}
