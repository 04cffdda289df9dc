// What is copied of a volume in which an app made whatever it could, and what is not.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { type VolumeEntry, VolumeReader } from '@platform/contract/volume-stream';
import { folderFrames, imageFrames } from './volume-frames.ts';

let outside: string;
let folder: string;
let server: Server | undefined;

beforeEach(() => {
  outside = mkdtempSync(join(tmpdir(), 'volume-'));
  folder = join(outside, 'volume');
  mkdirSync(folder);
});
afterEach(() => {
  server?.close();
  server = undefined;
  rmSync(outside, { recursive: true, force: true });
});

const at = (name: string) => join(folder, name);

interface Copied {
  readonly entries: ReadonlyMap<string, VolumeEntry>;
  readonly contents: ReadonlyMap<string, Buffer>;
  /** Bytes that were sent. */
  readonly sent: number;
}

async function copy(frames: AsyncIterable<Buffer> = folderFrames(folder), keep = true): Promise<Copied> {
  const entries = new Map<string, VolumeEntry>();
  const contents = new Map<string, Buffer>();
  let sent = 0;
  const counted = async function* () {
    for await (const frame of frames) {
      sent += frame.length;
      yield frame;
    }
  };
  const reader = new VolumeReader(counted());
  for (;;) {
    const entry = await reader.entry();
    if (entry.type === 'end') return { entries, contents, sent };
    entries.set(entry.path, entry);
    if (entry.type !== 'file') continue;
    const pieces: Buffer[] = [];
    for await (const piece of reader.content(entry.bytes)) if (keep) pieces.push(piece);
    contents.set(entry.path, Buffer.concat(pieces));
  }
}

const why = ({ entries }: Copied, path: string) => {
  const entry = entries.get(path);
  return entry?.type === 'left out' ? entry.why : assert.fail(`${path} is ${entry?.type}`);
};

test('folders, files and their times', async () => {
  mkdirSync(at('a/b'), { recursive: true });
  writeFileSync(at('a/b/one'), 'content');
  writeFileSync(at('a/empty'), '');
  writeFileSync(at('run'), '#!', { mode: 0o755 });
  utimesSync(at('a/b/one'), 1_000, 1_000);
  execFileSync('touch', ['-d', '@-5000', at('run')]);
  const { entries, contents } = await copy();
  assert.deepEqual([...entries.keys()].sort(), ['a', 'a/b', 'a/b/one', 'a/empty', 'run']);
  assert.equal(String(contents.get('a/b/one')), 'content');
  const [one, program] = [entries.get('a/b/one'), entries.get('run')];
  assert.deepEqual(one, { type: 'file', path: 'a/b/one', bytes: 7, executable: false, modified: 1_000_000 });
  assert.ok(program?.type === 'file' && program.executable && program.modified === 0);
  const keys = [...entries.keys()];
  assert.ok(keys.indexOf('a') < keys.indexOf('a/b') && keys.indexOf('a/b') < keys.indexOf('a/b/one'));
});

test('links are named and not followed', async () => {
  writeFileSync(join(outside, 'secret'), 'of another');
  mkdirSync(join(outside, 'folder'));
  writeFileSync(join(outside, 'folder/secret'), 'of another');
  symlinkSync(join(outside, 'secret'), at('file'));
  symlinkSync('../folder', at('up'));
  symlinkSync('.', at('loop'));
  symlinkSync('nowhere', at('broken'));
  const copied = await copy();
  assert.deepEqual(
    [...copied.entries.values()].map(({ type }) => type),
    ['link', 'link', 'link', 'link'],
  );
  assert.deepEqual(copied.entries.get('up'), { type: 'link', path: 'up', target: '../folder' });
  assert.equal(copied.contents.size, 0);
});

test('a file with several names is sent once', async () => {
  writeFileSync(at('one'), 'the same');
  linkSync(at('one'), at('two'));
  const { entries } = await copy();
  assert.deepEqual([...entries.values()].map(({ type }) => type).sort(), ['file', 'name']);
});

test('pipes, sockets and devices are left out', async () => {
  execFileSync('mkfifo', [at('pipe')]);
  server = createServer().listen(at('socket'));
  const isRoot = process.getuid?.() === 0;
  if (isRoot) execFileSync('mknod', [at('zero'), 'c', '1', '5']);
  const copied = await copy();
  for (const name of ['pipe', 'socket', ...(isRoot ? ['zero'] : [])])
    assert.match(why(copied, name), /device, a pipe or a socket/);
});

test('names of any bytes', async () => {
  const names = [Buffer.from([0x61, 0xff]), Buffer.from('line\nbreak'), Buffer.from('%41'), Buffer.from('back\\slash')];
  for (const name of names) writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), name]), 'x');
  const { entries } = await copy();
  assert.deepEqual([...entries.keys()].sort(), ['%2541', 'a%FF', 'back%5Cslash', 'line%0Abreak']);
});

test('holes are not sent, and a file that is nearly all hole is left out', async () => {
  writeFileSync(at('sparse'), 'begin');
  truncateSync(at('sparse'), 64 * 1024 * 1024);
  writeFileSync(at('huge'), '');
  truncateSync(at('huge'), 2 ** 42);
  const copied = await copy();
  assert.equal(copied.contents.get('sparse')?.length, 64 * 1024 * 1024);
  assert.ok(copied.sent < 1024 * 1024, `${copied.sent}`);
  assert.match(why(copied, 'huge'), /4 TiB long/);
});

test('what is too deep is left out, and nothing stays open', async () => {
  let deep = folder;
  for (let level = 0; level < 150; level += 1) {
    deep = join(deep, 'd');
    mkdirSync(deep);
  }
  const copied = await copy();
  const last = [...copied.entries.values()].at(-1);
  assert.equal(last?.type, 'left out');
  assert.equal(copied.entries.size, 101);
  const open = () => execFileSync('readlink', ['-f', ...openFiles()], { encoding: 'utf8' });
  assert.doesNotMatch(open(), new RegExp(`${folder}/d`));
});

test('a file that shrinks ends the copy', async () => {
  writeFileSync(at('log'), Buffer.alloc(2 * 1024 * 1024, 1));
  const frames = folderFrames(folder);
  await frames.next();
  truncateSync(at('log'), 10);
  await assert.rejects(async () => {
    for await (const _ of frames);
  }, /became shorter/);
});

test('files that the app closed are left out, where that holds this process off', async () => {
  writeFileSync(at('closed'), 'x', { mode: 0 });
  chmodSync(at('closed'), 0);
  const { entries } = await copy();
  assert.equal(entries.get('closed')?.type, process.getuid?.() === 0 ? 'file' : 'left out');
});

test('the disk of a virtual machine is one file', async () => {
  writeFileSync(join(outside, 'disk.img'), Buffer.alloc(3 * 1024 * 1024));
  const { contents, sent } = await copy(imageFrames(join(outside, 'disk.img'), 'volume.ext4'));
  assert.equal(contents.get('volume.ext4')?.length, 3 * 1024 * 1024);
  assert.ok(sent < 10_000);
});

function openFiles(): string[] {
  return execFileSync('ls', [`/proc/${process.pid}/fd`], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((fd) => `/proc/${process.pid}/fd/${fd}`);
}
