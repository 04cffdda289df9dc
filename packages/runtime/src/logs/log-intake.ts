// Turns a workload's raw output into log lines, and keeps a flood from costing the platform processor time or memory.
import type { Readable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { type LogEntry, limits } from '@platform/contract';
import { Pile } from '@platform/contract/pile';
import type { LogWriter } from './log-store.ts';

const LONGEST_LINE = limits.workloadLogLine.value;
const NEWLINE = 0x0a;
const NOTHING = Buffer.alloc(0);
/** Beyond this many lines in a second, lines are counted instead of kept. */
const LINES_PER_SECOND = 1_000;
/** What a workload may cost in a millisecond, in bytes; beyond that it waits, because its pipe is not read. */
const COST_PER_MILLISECOND = 5 * 1024;
/** What it may cost at once. */
const BURST = 512 * 1024;
/** What a line costs beside its bytes, and a piece: of lines without any, a pipe holds thousands. */
const COST_OF_LINE = 64;

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
      const splitter = createSplitter({
        keeps: () => allowance.keeps(),
        line: (line) => allowance.line(name, line),
      });
      stream.on('data', (chunk: Buffer) => {
        const lines = splitter.push(chunk);
        allowance.spend(chunk.length + (1 + lines) * COST_OF_LINE, stream);
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

interface LineSink {
  /** Whether the next line is kept; one that is not is counted. */
  keeps(): boolean;
  line(line: string): void;
}

interface Splitter {
  /** @returns how many lines ended */
  push(chunk: Buffer): number;
  end(): void;
}

/** Splits bytes into lines; of a line that is too long it keeps the beginning only, of one that is not kept nothing. */
function createSplitter({ keeps, line: emit }: LineSink): Splitter {
  const kept = new Pile();
  /** Of the line that has begun. */
  let length = 0;

  const add = (part: Buffer): void => {
    length += part.length;
    const room = LONGEST_LINE - kept.length;
    if (room > 0 && part.length > 0) kept.add(part.subarray(0, room));
  };
  const finish = (part: Buffer): void => {
    const bytes = length + part.length;
    if (!keeps()) kept.take();
    else if (bytes === 0) emit('');
    else {
      add(part);
      const text = harmless(kept.take().toString('utf8').replace(/\r$/, ''));
      emit(bytes > LONGEST_LINE ? `${text}…` : text);
    }
    length = 0;
  };
  return {
    push(chunk) {
      let start = 0;
      let lines = 0;
      for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
        finish(chunk.subarray(start, end));
        lines += 1;
        start = end + 1;
      }
      if (start < chunk.length) add(chunk.subarray(start));
      return lines;
    },
    end() {
      if (length > 0) finish(NOTHING);
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
  let cost = 0;
  let at = milliseconds();

  const reportDropped = () => {
    clearTimeout(reporting);
    reporting = undefined;
    if (dropped === 0) return;
    const why = hadRoom ? `more than ${LINES_PER_SECOND} lines in one second` : 'the disk of the machine was full';
    if (!writer.append('system', `${dropped} lines were dropped: ${why}.`)) return;
    dropped = 0;
    hadRoom = true;
  };
  const drop = () => {
    dropped += 1;
    droppedInAll += 1;
    // The next line may never come, so a timer reports it.
    reporting ??= setTimeout(reportDropped, 1_000).unref();
  };
  return {
    /** Counts a line. */
    keeps(): boolean {
      const now = Math.floor(milliseconds() / 1000);
      if (now !== second) {
        reportDropped();
        second = now;
        lines = 0;
      }
      lines += 1;
      if (lines > LINES_PER_SECOND) drop();
      return lines <= LINES_PER_SECOND;
    },
    line(stream: LogEntry['stream'], line: string) {
      if (writer.append(stream, line)) return;
      if (writer.diskFull()) hadRoom = false;
      drop();
    },
    spend(amount: number, stream: Readable) {
      const now = milliseconds();
      cost = Math.max(0, cost - (now - at) * COST_PER_MILLISECOND) + amount;
      at = now;
      if (cost <= BURST) return;
      stream.pause();
      const resume = (): void => {
        cost = Math.min(cost, BURST);
        stream.resume();
      };
      setTimeout(resume, Math.ceil((cost - BURST) / COST_PER_MILLISECOND));
    },
    end: reportDropped,
    dropped: () => droppedInAll,
  };
}
