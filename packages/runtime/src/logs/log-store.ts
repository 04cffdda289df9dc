// Keeps the last lines of each installation's output on disk, across restarts, in bounded space.
import { mkdirSync } from 'node:fs';
import { appendFile, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type LogEntry, limits } from '@platform/contract';
import type { Clock, Log } from '../clock.ts';

export interface LogWriter {
  /** Adds one line. Returns false when the disk lags behind and the line was dropped. */
  append(stream: LogEntry['stream'], line: string): boolean;
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
  remove(installationId: string): Promise<void>;
}

interface StoredLine extends LogEntry {
  /** Counts up for each installation; what a page's cursor names. */
  readonly n: number;
}

const KEPT_LINES = limits.workloadLogLines.value;
/** The file is rewritten when it holds this much more than what is kept, so most appends are only appends. */
const LARGEST_LINES = KEPT_LINES * 2;
const LARGEST_BYTES = 8 * 1024 * 1024;
const KEPT_BYTES = 4 * 1024 * 1024;
const LARGEST_BACKLOG = 1_000;

interface File {
  readonly path: string;
  next: number;
  lines: number;
  bytes: number;
}

/** @param folder Made if missing, for the Runtime's own user only. */
export function openLogStore(folder: string, clock: Clock, log: Log): LogStore {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const writers = new Map<string, LogWriter>();
  const pathOf = (installationId: string) => join(folder, `${installationId}.jsonl`);
  return {
    writer(installationId) {
      const existing = writers.get(installationId);
      if (existing !== undefined) return existing;
      const made = createWriter(pathOf(installationId), clock, log, () => writers.delete(installationId));
      writers.set(installationId, made);
      return made;
    },
    async read(installationId, { limit, before }) {
      await writers.get(installationId)?.settled();
      const end = before === undefined ? Number.POSITIVE_INFINITY : Number(before);
      const kept = (await readLines(pathOf(installationId))).slice(-KEPT_LINES).filter((line) => line.n < end);
      const items = kept.slice(-limit).reverse();
      const last = items.at(-1);
      return {
        items: items.map(({ at, stream, line }) => ({ at, stream, line })),
        before: last === undefined || items.length === kept.length ? null : String(last.n),
      };
    },
    async remove(installationId) {
      await writers.get(installationId)?.settled();
      await rm(pathOf(installationId), { force: true });
    },
  };
}

/** @param forget Called when nothing waits any more, so that a quiet installation holds nothing here. */
function createWriter(path: string, clock: Clock, log: Log, forget: () => void): LogWriter {
  let backlog: Array<{ at: string; stream: LogEntry['stream']; line: string }> = [];
  let work: Promise<void> | undefined;
  let file: File | undefined;

  async function write(): Promise<void> {
    try {
      file ??= await openFile(path);
      while (backlog.length > 0) {
        const batch = backlog;
        backlog = [];
        await appendBatch(file, batch);
        if (file.lines > LARGEST_LINES || file.bytes > LARGEST_BYTES) await shorten(file);
      }
    } catch (error) {
      backlog = [];
      file = undefined;
      log.error({ code: errorCode(error) }, 'the log of an app could not be written');
    } finally {
      work = undefined;
      forget();
    }
  }

  return {
    append(stream, line) {
      // The platform's own remarks are few and always kept.
      if (backlog.length >= LARGEST_BACKLOG && stream !== 'system') return false;
      backlog.push({ at: clock.now().toISOString(), stream, line });
      work ??= Promise.resolve().then(write);
      return true;
    },
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
  const file = { path, next: (lines.at(-1)?.n ?? 0) + 1, lines: lines.length, bytes: 0 };
  // A crash may have cut the last line; what is appended must begin on a line of its own.
  await replace(file, lines.slice(-KEPT_LINES));
  return file;
}

/** Keeps the newest lines, as many as are promised and fit. */
async function shorten(file: File): Promise<void> {
  await replace(file, (await readLines(file.path)).slice(-KEPT_LINES));
}

async function replace(file: File, lines: readonly StoredLine[]): Promise<void> {
  const texts = lines.map((line) => `${JSON.stringify(line)}\n`);
  let bytes = 0;
  let first = texts.length;
  for (let index = texts.length - 1; index >= 0; index -= 1) {
    bytes += Buffer.byteLength(texts[index] ?? '');
    if (bytes > KEPT_BYTES) break;
    first = index;
  }
  const content = Buffer.from(texts.slice(first).join(''));
  const temporary = `${file.path}.new`;
  const handle = await open(temporary, 'w', 0o600);
  try {
    await handle.writeFile(content);
  } finally {
    await handle.close();
  }
  await rename(temporary, file.path);
  file.lines = texts.length - first;
  file.bytes = content.length;
}

async function readLines(path: string): Promise<StoredLine[]> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
  return text.split('\n').flatMap((line) => {
    if (line === '') return [];
    try {
      // Written by appendBatch; a line cut by a crash fails here and is left out.
      return [JSON.parse(line) as StoredLine];
    } catch {
      return [];
    }
  });
}

function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}
