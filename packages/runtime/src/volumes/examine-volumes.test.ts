// Promises of looking at volumes: a damaged file system, a missing volume and one that the kernel gave up are named, whole ones are
// not, and one that is in use is left alone.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, renameSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { makePlace, type Place } from '../../test-support/place.ts';
import { TEST_UID } from '../../test-support/sandboxes.ts';
import { examineVolumes } from './examine-volumes.ts';
import { findImageTools } from './ext4-image.ts';
import { openVolumes, type Volumes } from './volumes.ts';

const tools = findImageTools();
const images = { skip: typeof tools === 'string' ? `no image can be mounted here: ${tools}` : false };
const uid = process.getuid?.() === 0 ? TEST_UID : undefined;

let place: Place;
let directory: string;
let volumes: Volumes;

beforeEach(() => {
  place = makePlace();
  directory = join(place.folder, 'volumes');
  volumes = openVolumes(directory);
});
afterEach(async () => {
  await openVolumes(directory).sweep();
  place.remove();
});

const request = (installationId: string) => ({ installationId, uid, diskMiB: 16 });
const imageOf = (installationId: string) => join(directory, `${installationId}.ext4`);

async function states(): Promise<Record<string, readonly [string, string, string | undefined]>> {
  const found: Record<string, readonly [string, string, string | undefined]> = {};
  for await (const { installationId, kind, state, found: words } of examineVolumes(directory))
    found[installationId] = [kind, state, words];
  return found;
}

async function volume(installationId: string): Promise<void> {
  const attached = await volumes.attach(request(installationId));
  writeFileSync(join(attached.folder, 'kept'), 'kept');
  await attached.release();
}

function overwrite(file: string, at: number, bytes: number, value = 0xa5): void {
  const descriptor = openSync(file, 'r+');
  writeSync(descriptor, Buffer.alloc(bytes, value), 0, bytes, at);
  closeSync(descriptor);
}

test('without volumes there is nothing to say, also where there never were any', async () => {
  assert.deepEqual(await states(), {});
  rmSync(directory, { recursive: true });
  rmSync(`${directory}.known`, { recursive: true });
  assert.deepEqual(await states(), {});
});

test('a folder is whole whatever its app made of it, and one that is gone is missing', async () => {
  const plain = openVolumes(directory, 'only root can');
  for (const name of ['inst-one', 'inst-two']) await plain.attach(request(name));
  execFileSync('sh', ['-c', 'mkfifo pipe; ln -s /nowhere link; mkdir shut; echo x > shut/file; chmod 0 shut'], {
    cwd: join(directory, 'inst-one'),
  });
  rmSync(join(directory, 'inst-two'), { recursive: true });
  assert.deepEqual(await states(), {
    'inst-one': ['folder', 'whole', undefined],
    'inst-two': ['folder', 'missing', undefined],
  });
});

test('folders deeper than paths reach are no damage', async () => {
  await openVolumes(directory, 'only root can').attach(request('inst-one'));
  const root = join(directory, 'inst-one');
  const deeper = `
    const { mkdirSync } = require('node:fs');
    for (let depth = 0; depth < 25; depth += 1) {
      mkdirSync('d'.repeat(200));
      process.chdir('d'.repeat(200));
    }`;
  execFileSync(process.execPath, ['-e', deeper], { cwd: root });
  try {
    assert.deepEqual(await states(), { 'inst-one': ['folder', 'whole', undefined] });
  } finally {
    execFileSync('rm', ['-rf', root]);
  }
});

test('whole images, one in use, one that is gone', images, async () => {
  for (const name of ['inst-gone', 'inst-used', 'inst-whole']) await volume(name);
  rmSync(imageOf('inst-gone'));
  const used = await volumes.attach(request('inst-used'));
  const before = statSync(imageOf('inst-whole')).mtimeMs;
  assert.deepEqual(await states(), {
    'inst-gone': ['image', 'missing', undefined],
    'inst-used': ['image', 'in use', undefined],
    'inst-whole': ['image', 'whole', undefined],
  });
  assert.equal(statSync(imageOf('inst-whole')).mtimeMs, before);
  await used.release();
});

test('an image that a process has open, as that of a virtual machine, is in use', images, async () => {
  await volume('inst-one');
  overwrite(imageOf('inst-one'), 1_024, 64);
  const descriptor = openSync(imageOf('inst-one'), 'r');
  assert.equal((await states())['inst-one']?.[1], 'in use');
  closeSync(descriptor);
  assert.equal((await states())['inst-one']?.[1], 'damaged');
});

test('damaged file systems are named with what is wrong', images, async () => {
  await volume('inst-bitmap');
  await volume('inst-none');
  await volume('inst-root');
  // Of 16 MiB with blocks of 1 KiB: the group descriptors and what they name follow the superblock.
  const layout = execFileSync('dumpe2fs', [imageOf('inst-root')], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const numberOf = (pattern: RegExp) => Number(pattern.exec(layout)?.[1]);
  const block = numberOf(/Block size: +(\d+)/);
  overwrite(imageOf('inst-root'), numberOf(/Inode table at (\d+)/) * block, 4_096);
  overwrite(imageOf('inst-bitmap'), numberOf(/Block bitmap at (\d+)/) * block, block);
  overwrite(imageOf('inst-none'), 0, 64 * 1_024);
  const found = await states();
  for (const name of ['inst-bitmap', 'inst-root']) {
    assert.deepEqual(found[name]?.slice(0, 2), ['image', 'damaged']);
    assert.ok((found[name]?.[2] ?? '').length > 10, JSON.stringify(found));
  }
  assert.deepEqual(found['inst-none'], ['image', 'damaged', 'it holds no ext4 file system']);
});

test('one with more errors than there is room to tell is damaged, not unchecked', images, async () => {
  const tree = join(place.folder, 'tree');
  mkdirSync(tree);
  for (let file = 0; file < 2_500; file += 1) writeFileSync(join(tree, `${'x'.repeat(200)}${file}`), '');
  const image = imageOf('inst-many');
  const block = 4_096;
  const options = ['-q', '-F', '-t', 'ext4', '-O', '^metadata_csum', '-b', `${block}`, '-N', '16384', '-d', tree];
  execFileSync('mke2fs', [...options, image, '64M']);
  // The files are gone, and their names are not. The first inodes are those of the file system itself.
  const layout = execFileSync('dumpe2fs', [image], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  for (const [index, [, first, last]] of [...layout.matchAll(/Inode table at (\d+)-(\d+)/g)].entries()) {
    const from = Number(first) + (index === 0 ? 1 : 0);
    overwrite(image, from * block, (Number(last) + 1 - from) * block, 0);
  }
  const [kind, state, found = ''] = (await states())['inst-many'] ?? [];
  assert.deepEqual([kind, state], ['image', 'damaged'], found);
  assert.match(found, /^Entry '\d*x+/);
});

test('one that was not unmounted waits for its next start', images, async () => {
  const attached = await volumes.attach(request('inst-one'));
  writeFileSync(join(attached.folder, 'kept'), 'kept');
  execFileSync('sync');
  execFileSync('cp', [imageOf('inst-one'), join(directory, 'copy')]);
  await attached.release();
  renameSync(join(directory, 'copy'), imageOf('inst-one'));
  assert.deepEqual((await states())['inst-one']?.slice(0, 2), ['image', 'unchecked']);
});

test('a mounted one in which the kernel found an error is damaged', images, async () => {
  const attached = await volumes.attach(request('inst-one'));
  execFileSync('mount', ['-o', 'remount,ro', attached.folder]);
  assert.deepEqual((await states())['inst-one']?.slice(0, 2), ['image', 'damaged']);
  await attached.release();
});
