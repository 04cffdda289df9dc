// Keeps the last lines of each installation's output on disk, across restarts, in bounded space.

import { mkdirSync } from 'node:fs';
import { appendFile, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type LogEntry, limits, type NodeLogPiece } from '@platform/contract';
import type { Clock, Log } from '../clock.ts';
import { errorCode } from '../error-code.ts';
import { entryOf, tail } from './log-tail.ts';
import { parseLines, type StoredLine } from './stored-lines.ts';

export interface LogWriter {
  /** Adds one line. Returns false when the disk lags behind or is full and the line was dropped. */
  append(stream: LogEntry['stream'], line: string): boolean;
  /** Whether lines are dropped because the disk has no room for logs. */
  diskFull(): boolean;
  /** Resolves when everything added so far is on disk. */
  settled(): Promise<void>;
}

export interface LogStore {
  /** A writer costs memory only while lines wait for the disk. */
  writer(installationId: string): LogWriter;
  /** The newest lines first. `before` continues where an earlier answer ended. */
  read(
    installationId: string,
    page: { limit: number; before?: string },
  ): Promise<{ items: LogEntry[]; before: string | null }>;
  /**
   * The newest lines, or those after a position of an earlier piece, and then what is added, until `signal` is aborted.
   * The first piece of a stream without `after` says where older lines are.
   */
  follow(installationId: string, start: LogStart, signal: AbortSignal): AsyncGenerator<NodeLogPiece, void, undefined>;
  remove(installationId: string): Promise<void>;
}

export type LogStart = { readonly newest: number } | { readonly after: number };

const KEPT_LINES = limits.workloadLogLines.value;
/** The file is rewritten when it holds this much more than what is kept, so most appends are only appends. */
const LARGEST_LINES = KEPT_LINES * 2;
const LARGEST_BYTES = 8 * 1024 * 1024;
const KEPT_BYTES = 4 * 1024 * 1024;
const LARGEST_BACKLOG = 1_000;
const NEWLINE = 0x0a;

interface File {
  readonly path: string;
  /** Counts how often the file was replaced by a shorter one. */
  generation: number;
  next: number;
  lines: number;
  bytes: number;
}

/**
 * @param folder Made if missing, for the Runtime's own user only.
 * @param diskFull whether logs must leave the disk alone; by default never
 */
export function openLogStore(folder: string, clock: Clock, log: Log, diskFull = () => false): LogStore {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const writers = new Map<string, LogWriter>();
  /** What is known of a file that was written to: three numbers, so that the next line need not read it again. */
  const files = new Map<string, File>();
  const followers = new Map<string, Set<() => void>>();
  const pathOf = (installationId: string) => join(folder, `${installationId}.jsonl`);

  function changed(installationId: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const waiting = followers.get(installationId) ?? new Set();
      followers.set(installationId, waiting);
      const done = () => {
        signal.removeEventListener('abort', done);
        waiting.delete(done);
        if (waiting.size === 0) followers.delete(installationId);
        resolve();
      };
      waiting.add(done);
      signal.addEventListener('abort', done);
      if (signal.aborted) done();
    });
  }

  /** The newest lines of those kept, oldest first, and whether there are older ones. */
  async function newest(installationId: string, limit: number, end: number) {
    await writers.get(installationId)?.settled();
    const kept = (await readLines(pathOf(installationId), KEPT_LINES))
      .slice(-KEPT_LINES)
      .filter((line) => line.n < end);
    const lines = kept.slice(-limit);
    const first = lines.at(0);
    return { lines, before: first === undefined || lines.length === kept.length ? null : String(first.n) };
  }

  return {
    writer(installationId) {
      const existing = writers.get(installationId);
      if (existing !== undefined) return existing;
      const made = createWriter({
        clock,
        log,
        diskFull,
        file: async () => {
          const file = files.get(installationId) ?? (await openFile(pathOf(installationId)));
          files.set(installationId, file);
          return file;
        },
        written: () => {
          for (const notify of [...(followers.get(installationId) ?? [])]) notify();
        },
        failed: () => files.delete(installationId),
        forget: () => writers.delete(installationId),
      });
      writers.set(installationId, made);
      return made;
    },
    async read(installationId, { limit, before }) {
      const end = before === undefined ? Number.POSITIVE_INFINITY : Number(before);
      const page = await newest(installationId, limit, end);
      return { items: page.lines.map(entryOf).reverse(), before: page.before };
    },
    async *follow(installationId, start, signal) {
      const page = await newest(installationId, 'newest' in start ? start.newest : 1, Number.POSITIVE_INFINITY);
      let last = page.lines.at(-1)?.n ?? 0;
      if ('newest' in start) yield { items: page.lines.map(entryOf), last, missed: 0, before: page.before };
      // A position beyond the end belongs to a log that was removed: everything here is new to its reader.
      else last = start.after > last ? 0 : start.after;
      const file = {
        path: pathOf(installationId),
        generation: () => files.get(installationId)?.generation ?? 0,
        changed: (until: AbortSignal) => changed(installationId, until),
      };
      yield* tail(file, last, signal);
    },
    async remove(installationId) {
      await writers.get(installationId)?.settled();
      files.delete(installationId);
      await rm(pathOf(installationId), { force: true });
    },
  };
}

interface WriterParts {
  readonly clock: Clock;
  readonly log: Log;
  diskFull(): boolean;
  /** What is known of the file; reads it at the first line since this Runtime was started. */
  file(): Promise<File>;
  /** Called after lines have reached the disk. */
  written(): void;
  /** Called when the file may be other than it was known. */
  failed(): void;
  /** Called when nothing waits any more, so that a quiet installation holds nothing here. */
  forget(): void;
}

function createWriter({ clock, log, diskFull, ...parts }: WriterParts): LogWriter {
  let backlog: Array<{ at: string; stream: LogEntry['stream']; line: string }> = [];
  let work: Promise<void> | undefined;

  async function write(): Promise<void> {
    try {
      const file = await parts.file();
      while (backlog.length > 0) {
        const batch = backlog;
        backlog = [];
        await appendBatch(file, batch);
        if (file.lines > LARGEST_LINES || file.bytes > LARGEST_BYTES) await shorten(file);
        parts.written();
      }
    } catch (error) {
      backlog = [];
      parts.failed();
      log.error({ code: errorCode(error) }, 'the log of an app could not be written');
    } finally {
      work = undefined;
      parts.forget();
    }
  }

  return {
    append(stream, line) {
      // The platform's own remarks are few and always kept.
      if (backlog.length >= LARGEST_BACKLOG && stream !== 'system') return false;
      if (diskFull()) return false;
      backlog.push({ at: clock.now().toISOString(), stream, line });
      work ??= Promise.resolve().then(write);
      return true;
    },
    diskFull,
    async settled() {
      while (work !== undefined) await work;
    },
  };
}

async function appendBatch(file: File, batch: ReadonlyArray<Omit<StoredLine, 'n'>>): Promise<void> {
  const text = batch.map((entry, index) => `${JSON.stringify({ n: file.next + index, ...entry })}\n`).join('');
  await appendFile(file.path, text, { mode: 0o600 });
  file.next += batch.length;
  file.lines += batch.length;
  file.bytes += Buffer.byteLength(text);
}

async function openFile(path: string): Promise<File> {
  const lines = await readLines(path);
  const file = { path, generation: 0, next: (lines.at(-1)?.n ?? 0) + 1, lines: lines.length, bytes: 0 };
  // A crash may have cut the last line; what is appended must begin on a line of its own.
  const content = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  await replace(file, { content, lines: lines.length });
  if (file.lines > KEPT_LINES || file.bytes > KEPT_BYTES) await shorten(file);
  return file;
}

/** Keeps the newest lines, as many as are promised and fit. What they say does not matter. */
async function shorten(file: File): Promise<void> {
  const content = await readFile(file.path);
  let lines = 0;
  let first = content.length;
  // Whole lines end with a line break.
  for (let end = content.lastIndexOf(NEWLINE); end >= 0 && lines < KEPT_LINES; lines += 1) {
    const before = end === 0 ? -1 : content.lastIndexOf(NEWLINE, end - 1);
    if (content.length - (before + 1) > KEPT_BYTES) break;
    first = before + 1;
    end = before;
  }
  await replace(file, { content: content.subarray(first), lines });
}

async function replace(
  file: File,
  { content, lines }: { readonly content: Buffer; readonly lines: number },
): Promise<void> {
  const temporary = `${file.path}.new`;
  const handle = await open(temporary, 'w', 0o600);
  try {
    await handle.writeFile(content);
  } finally {
    await handle.close();
  }
  // Before the file changes: a reader that sees the new one knows that its place in the old one is gone.
  file.generation += 1;
  await rename(temporary, file.path);
  file.lines = lines;
  file.bytes = content.length;
}

async function readLines(path: string, most?: number): Promise<StoredLine[]> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
  return parseLines(text, most);
}
