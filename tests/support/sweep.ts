// Where a secret could have come to rest: the database, a data folder, environments, files in memory, memory itself; and
// the forms in which it could lie there.

import { lstatSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { databaseText } from '../../packages/core/test-support/database-sweep.ts';
import { databaseUrlOf, type PlatformPlace } from './platform-process.ts';

/** What is searched, by where it was found. In a text bytes stand as Latin-1; memory can be longer than a text may be. */
export type Texts = Readonly<Record<string, string | Buffer>>;

/**
 * As it is, in hexadecimal, in base64 of either alphabet wherever in a longer text it begins, percent-encoded, and as JSON,
 * JSON in JSON and XML escape it.
 */
export function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const hex = bytes.toString('hex');
  const percent = encodeURIComponent(secret);
  const json = escaped(secret);
  const xml = secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const forms = [
    ...[secret, hex, hex.toUpperCase(), json, escaped(json), json.replaceAll('/', '\\/')],
    ...[percent, percent.replace(/%../g, (code) => code.toLowerCase()), encodeURIComponent(percent)],
    ...[xml, xml.replaceAll('"', '&quot;')],
    ...[0, 1, 2].flatMap((offset) => [base64At(bytes, offset, 'base64'), base64At(bytes, offset, 'base64url')]),
  ];
  return [...new Set(forms)];
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Of so many bytes into a group of three: the characters that depend on nothing else. */
function base64At(bytes: Buffer, offset: number, alphabet: 'base64' | 'base64url'): string {
  const whole = Math.floor((bytes.length + offset) / 3) * 4;
  const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString(alphabet);
  return text.slice(offset === 0 ? 0 : 4, whole);
}

/** In the memory of V8 strings have one or two bytes a letter. */
export function formsInMemory(secret: string): string[] {
  return [...formsOf(secret), Buffer.from(secret, 'utf16le').toString('latin1')];
}

/** @throws AssertionError-like Error with the places and forms, without the secret */
export function assertNowhere(texts: Texts, secrets: Readonly<Record<string, string>>, formed = formsOf): void {
  const found = Object.entries(texts).flatMap(([where, text]) =>
    Object.entries(secrets).flatMap(([name, secret]) =>
      formed(secret).flatMap((form, index) => {
        const at = typeof text === 'string' ? text.indexOf(form) : text.indexOf(form, 0, 'latin1');
        return at === -1 ? [] : [`${name}, form ${index}, lies in ${where} at ${at}`];
      }),
    ),
  );
  if (found.length > 0) throw new Error(found.join('\n'));
}

/** Every row of every table of a running platform. */
export async function databaseOf(place: Pick<PlatformPlace, 'dataDirectory'>): Promise<string> {
  const pool = new pg.Pool({ connectionString: await databaseUrlOf(place) });
  try {
    return await databaseText(pool);
  } finally {
    await pool.end();
  }
}

/** Programs, which are large and were not written by anybody whose secrets are searched for. */
const PROGRAMS = /^postgres\/bin-|^runtime\/|^node-/;
const LARGEST_FILE = 64 * 1024 * 1024;

/** Every file below a data folder but programs; PostgreSQL's data files and logs too. */
export function folderTexts(folder: string, skipped: RegExp = PROGRAMS): Texts {
  const texts: Record<string, string> = {};
  for (const entry of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (skipped.test(entry)) continue;
    const text = readPlain(join(folder, entry));
    if (text !== null) texts[entry] = text;
  }
  return texts;
}

function readPlain(file: string): string | null {
  try {
    const stat = statSync(file);
    return stat.isFile() && stat.size < LARGEST_FILE ? readFileSync(file).toString('latin1') : null;
  } catch {
    // Removed meanwhile, or of a process that has ended.
    return null;
  }
}

/** Environments and arguments of processes. */
export function environmentTexts(pids: readonly number[]): Texts {
  const texts: Record<string, string> = {};
  for (const pid of pids)
    for (const what of ['environ', 'cmdline'])
      texts[`${what} of process ${pid}`] = readPlain(`/proc/${pid}/${what}`) ?? '';
  return texts;
}

/**
 * What processes keep in files that are memory: memfds and files of memory that they hold open, and every tmpfs that they
 * have and this process has not.
 */
export function memoryFileTexts(pids: readonly number[]): Texts {
  const texts: Record<string, string> = {};
  // Volumes of a container engine are mounted here as well, and are those of workloads.
  const shared = memoryMounts('self').filter(({ folder }) => !folder.endsWith('/_data'));
  const known = new Set(shared.map(({ device }) => device));
  for (const pid of pids) {
    const mounts = memoryMounts(pid);
    for (const descriptor of namesIn(`/proc/${pid}/fd`)) {
      const file = `/proc/${pid}/fd/${descriptor}`;
      const target = linkOf(file);
      const inMemory = target.startsWith('/memfd:') || mounts.some(({ folder }) => target.startsWith(`${folder}/`));
      const text = inMemory ? readPlain(file) : null;
      if (text !== null) texts[`${target} of process ${pid}`] = text;
    }
    for (const { folder, device } of mounts) {
      if (known.has(device)) continue;
      known.add(device);
      for (const file of filesOfMount(join(`/proc/${pid}/root`, folder))) texts[file] = readPlain(file) ?? '';
    }
  }
  return texts;
}

interface Mount {
  readonly folder: string;
  /** `<major>:<minor>` */
  readonly device: string;
}

function memoryMounts(pid: number | 'self'): Mount[] {
  const lines = (readPlain(`/proc/${pid}/mountinfo`) ?? '').split('\n');
  return lines.flatMap((line) => {
    const [fields = '', type = ''] = line.split(' - ');
    const [, , device = '', , folder = ''] = fields.split(' ');
    return /^(?:tmpfs|ramfs|hugetlbfs) /.test(type) ? [{ folder, device }] : [];
  });
}

/** Without what is mounted below it. */
function filesOfMount(root: string, device = deviceOf(root)): string[] {
  return namesIn(root).flatMap((name) => {
    const path = join(root, name);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined || stat.dev !== device) return [];
    return stat.isDirectory() ? filesOfMount(path, device) : stat.isFile() ? [path] : [];
  });
}

function deviceOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.dev ?? -1;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function linkOf(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return '';
  }
}

const LARGEST_MAPPING = 256 * 1024 * 1024;

/** What a process has in memory of its own, or in memfds, that it may write to. */
export async function writtenMemory(pid: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const file = await open(`/proc/${pid}/mem`, 'r');
  try {
    for (const line of readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n')) {
      const [, from = '', to = ''] =
        /^([0-9a-f]+)-([0-9a-f]+) rw.. \S+ (?:00:00 0|\S+ \d+ +\/memfd:|\S+ \d+ +\/dev\/shm)/.exec(line) ?? [];
      if (from === '') continue;
      const [start, end] = [Number.parseInt(from, 16), Number.parseInt(to, 16)];
      if (end - start <= LARGEST_MAPPING) pieces.push(await pieceOf(file, start, end));
    }
  } finally {
    await file.close();
  }
  return Buffer.concat(pieces);
}

async function pieceOf(file: FileHandle, start: number, end: number): Promise<Buffer> {
  const piece = Buffer.alloc(end - start);
  const { bytesRead } = await file.read(piece, 0, piece.length, start).catch(() => ({ bytesRead: 0 }));
  return piece.subarray(0, bytesRead);
}
