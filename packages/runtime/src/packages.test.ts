// Packages are unpacked only when they are exactly what was asked for and harmless.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { after, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { limits } from '@platform/contract';
import { type Header, pack } from 'tar-stream';
import { makePlace } from '../test-support/place.ts';
import { unmountBelow } from '../test-support/unmount.ts';
import { errorCode } from './error-code.ts';
import { modes } from './modes.ts';
import { openPackageStore, PackageError } from './packages.ts';

const place = makePlace();
after(() => place.remove());

type Entry = Partial<Header> & Pick<Header, 'name'>;

async function archive(entries: readonly [Entry, string?][]): Promise<Buffer> {
  const tar = pack();
  for (const [header, content] of entries) tar.entry(header, content ?? '');
  tar.finalize();
  return gzipSync(await buffer(tar));
}

const hashOf = (blob: Buffer) => createHash('sha256').update(blob).digest('hex');

function storeOf(blob: Buffer, folder = join(place.folder, randomUUID())) {
  let downloads = 0;
  const store = openPackageStore(folder, async () => {
    downloads += 1;
    return Readable.from([blob]);
  });
  return { store, folder, downloads: () => downloads };
}

describe('a package', () => {
  test('is unpacked for the users of its workloads, its workload only, and executables stay executable', async () => {
    const blob = await archive([
      [{ name: 'manifest.json' }, '{}'],
      [{ name: 'frontend/index.html' }, '<p>'],
      [{ name: 'workload/', type: 'directory' }],
      [{ name: 'workload/index.mjs', mode: 0o600 }, 'code'],
      [{ name: 'workload/deep/tool', mode: 0o700 }, '#!'],
    ]);
    const { store } = storeOf(blob);
    const workload = await store.workloadFolder(hashOf(blob));
    assert.equal(readFileSync(join(workload, 'index.mjs'), 'utf8'), 'code');
    assert.equal(statSync(join(workload, 'index.mjs')).mode & 0o777, modes.givenFile);
    assert.equal(statSync(join(workload, 'deep', 'tool')).mode & 0o777, modes.given);
    assert.equal(statSync(join(workload, 'deep')).mode & 0o777, modes.given);
    assert.deepEqual(readdirSync(join(workload, '..')), ['workload']);
  });

  test('has programs that can be run, whatever the modes in the archive, and nothing that changes its user', async () => {
    const program = '\x7fELF and more';
    const blob = await archive([
      [{ name: 'workload/plain', mode: 0o644 }, program],
      [{ name: 'workload/setuid', mode: 0o6755 }, program],
      [{ name: 'workload/sticky', mode: 0o1000 }, program],
      [{ name: 'workload/text', mode: 0o6644 }, 'text'],
      [{ name: 'workload/short', mode: 0o644 }, '\x7fEL'],
    ]);
    const { store } = storeOf(blob);
    const workload = await store.workloadFolder(hashOf(blob));
    const mode = (name: string) => statSync(join(workload, name)).mode & 0o7777;
    assert.deepEqual(['plain', 'setuid', 'sticky'].map(mode), [modes.given, modes.given, modes.given]);
    assert.deepEqual(['text', 'short'].map(mode), [modes.givenFile, modes.givenFile]);
  });

  test('is unpacked when its names begin with ./, also with as many files as a package may hold', async () => {
    const files = Array.from({ length: limits.packageEntries.value }, (_, index): [Entry, string?] => [
      { name: `./frontend/${index}` },
    ]);
    const blob = await archive([
      [{ name: './', type: 'directory' }],
      [{ name: './workload/index.mjs' }, 'code'],
      ...files.slice(1),
    ]);
    const { store } = storeOf(blob);
    const workload = await store.workloadFolder(hashOf(blob));
    assert.equal(readFileSync(join(workload, 'index.mjs'), 'utf8'), 'code');
  });

  test('is fetched once for all who ask, and not again later', async () => {
    const blob = await archive([[{ name: 'workload/a' }, 'a']]);
    const { store, folder, downloads } = storeOf(blob);
    const folders = await Promise.all([1, 2, 3].map(() => store.workloadFolder(hashOf(blob))));
    assert.equal(new Set(folders).size, 1);
    assert.equal(downloads(), 1);
    const again = storeOf(blob, folder);
    await again.store.workloadFolder(hashOf(blob));
    assert.equal(again.downloads(), 0);
  });

  test('that differs from its hash is refused and leaves nothing', async () => {
    const blob = await archive([[{ name: 'workload/a' }, 'a']]);
    const { store, folder } = storeOf(blob);
    await assert.rejects(store.workloadFolder('b'.repeat(64)), /does not match its content hash/);
    assert.deepEqual(readdirSync(folder), []);
  });

  const hostile: Readonly<Record<string, readonly [Entry, string?][]>> = {
    'climbs out of its folder': [[{ name: 'workload/../../outside' }, 'x']],
    'names an absolute path': [[{ name: '/workload/outside' }, 'x']],
    'holds a symbolic link': [[{ name: 'workload/link', type: 'symlink', linkname: '/etc/passwd' }]],
    'holds a hard link': [
      [{ name: 'workload/a' }, 'x'],
      [{ name: 'workload/link', type: 'link', linkname: 'workload/a' }],
    ],
    'holds a device': [[{ name: 'workload/null', type: 'character-device', devmajor: 1, devminor: 3 }]],
    'holds a pipe': [[{ name: 'workload/pipe', type: 'fifo' }]],
    'holds a file twice': [
      [{ name: 'workload/a' }, '1'],
      [{ name: 'workload/a' }, '2'],
    ],
    'holds a file where a folder is': [
      [{ name: 'workload/a/b' }, '1'],
      [{ name: 'workload/a' }, '2'],
    ],
    'holds a backslash in a name': [[{ name: 'workload/a\\b' }, 'x']],
    'hides a link outside of workload/': [[{ name: 'frontend/link', type: 'symlink', linkname: '/etc' }]],
  };
  for (const [name, entries] of Object.entries(hostile)) {
    test(`that ${name} is refused and leaves nothing`, async () => {
      const blob = await archive(entries);
      const { store, folder } = storeOf(blob);
      await assert.rejects(store.workloadFolder(hashOf(blob)), PackageError);
      assert.deepEqual(readdirSync(folder), []);
      assert.equal(existsSync(join(place.folder, 'outside')), false);
    });
  }

  test('that is cut short is refused and leaves nothing', async () => {
    const whole = await archive([[{ name: 'workload/a' }, 'a'.repeat(10_000)]]);
    const blob = whole.subarray(0, whole.length - 20);
    const { store, folder } = storeOf(blob);
    await assert.rejects(store.workloadFolder(hashOf(blob)), PackageError);
    assert.deepEqual(readdirSync(folder), []);
  });

  test('that this machine has no room for is not called unreadable, and is unpacked when there is room', {
    skip: process.getuid?.() !== 0 && 'needs root, to mount a file system that is nearly full',
  }, async (t) => {
    const disk = join(place.folder, randomUUID());
    mkdirSync(disk);
    const mount = (...words: string[]) => execFileSync('mount', [...words, 'none', disk], { stdio: 'pipe' });
    mount('-t', 'tmpfs', '-o', 'size=128k');
    t.after(() => unmountBelow(place.folder));
    const blob = await archive([[{ name: 'workload/a' }, 'a'.repeat(500_000)]]);
    const { store, folder } = storeOf(blob, join(disk, 'packages'));
    await assert.rejects(
      store.workloadFolder(hashOf(blob)),
      (error) => !(error instanceof PackageError) && errorCode(error) === 'ENOSPC',
    );
    assert.deepEqual(readdirSync(folder), []);
    mount('-o', 'remount,size=4m');
    assert.equal(statSync(join(await store.workloadFolder(hashOf(blob)), 'a')).size, 500_000);
  });

  test('is removed in one step: a kill in the middle leaves nothing that could be taken for it', async () => {
    const blob = await archive([
      [{ name: 'workload/a' }, 'a'],
      [{ name: 'workload/b' }, 'b'],
    ]);
    const { store, folder, downloads } = storeOf(blob);
    const workload = await store.workloadFolder(hashOf(blob));
    const removing = store.keepOnly(new Set());
    // Nothing is awaited yet, as if the kill came here.
    assert.equal(existsSync(workload), false);
    const [left] = readdirSync(folder);
    assert.match(left ?? '', /^\.old-/);
    const again = storeOf(blob, folder);
    assert.deepEqual(readdirSync(folder), []);
    await removing;
    await again.store.workloadFolder(hashOf(blob));
    assert.equal(downloads() + again.downloads(), 2);
  });

  test('that is no longer referenced is removed, and so is what a crash left incomplete', async () => {
    const blob = await archive([[{ name: 'workload/a' }, 'a']]);
    const { store, folder } = storeOf(blob);
    await store.workloadFolder(hashOf(blob));
    mkdirSync(join(folder, '.new-1234'));
    writeFileSync(join(folder, '.new-1234', 'blob'), 'half');
    const again = storeOf(blob, folder);
    assert.deepEqual(readdirSync(folder), [hashOf(blob)]);
    await again.store.keepOnly(new Set());
    assert.deepEqual(readdirSync(folder), []);
    rmSync(folder, { recursive: true });
  });
});
