// Images that several platforms share: made once, kept while a platform may boot from them, then removed.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { until } from '../../../../../tests/support/wait.ts';
import { DiskFullError } from '../../disk-watch.ts';
import { findProgram } from '../../find-program.ts';
import { type Images, openImages } from './images.ts';

/** Gives platforms that share a folder. */
function shared(t: TestContext): { readonly folder: string; platform(): Promise<Images> } {
  const folder = mkdtempSync(join(tmpdir(), 'images-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return {
    folder,
    async platform() {
      const images = await openImages(folder, 'mkfs.erofs');
      t.after(() => images.close());
      return images;
    },
  };
}

const make = (images: Images, identity: string) => images.file('base', identity, async () => Buffer.from(identity));

test('an image of former programs goes when another is there, and nothing else does', async (t) => {
  const { folder, platform } = shared(t);
  const before = await platform();
  const former = await make(before, 'former');
  const other = await before.file('initramfs', 'the same', async () => Buffer.from('initramfs'));
  before.close();
  const images = await platform();
  const current = await make(images, 'current');
  assert.ok(existsSync(former));
  await images.removeFormer();
  assert.deepEqual(
    readdirSync(folder).map((name) => join(folder, name)),
    [current, other].sort(),
  );
  await images.file('initramfs', 'the same', () => Promise.reject(new Error('it is made already')));
});

test('the image of an app goes with its package, unless another has the same content', {
  skip: findProgram('mkfs.erofs') === undefined && 'apt-get install erofs-utils',
}, async (t) => {
  const images = await shared(t).platform();
  const apps = ['one', 'one', 'two'].map((content) => {
    const app = mkdtempSync(join(tmpdir(), 'app-'));
    t.after(() => rmSync(app, { recursive: true, force: true }));
    writeFileSync(join(app, 'index.mjs'), content);
    return app;
  });
  const [one = '', same = '', two = ''] = apps;
  const [first = '', , second = ''] = await Promise.all(apps.map((app) => images.ofFolder(app)));
  images.keepFolders(new Set([one, same, two]));
  assert.deepEqual([existsSync(first), existsSync(second)], [true, true]);
  images.keepFolders(new Set([same]));
  assert.deepEqual([existsSync(first), existsSync(second)], [true, false]);
  images.keepFolders(new Set());
  assert.equal(existsSync(first), false);
});

test('a full disk gets no image of another app, and those that are there are used', async (t) => {
  const images = await shared(t).platform();
  const app = mkdtempSync(join(tmpdir(), 'app-'));
  t.after(() => rmSync(app, { recursive: true, force: true }));
  writeFileSync(join(app, 'index.mjs'), 'one');
  const made = findProgram('mkfs.erofs') === undefined ? undefined : await images.ofFolder(app);
  let asked = 0;
  const requireRoom = (bytes = 0) => {
    asked = bytes;
    throw new DiskFullError();
  };
  if (made !== undefined) assert.equal(await images.ofFolder(app, requireRoom), made);
  writeFileSync(join(app, 'index.mjs'), 'another');
  await assert.rejects(images.ofFolder(app, requireRoom), DiskFullError);
  assert.equal(asked, 'another'.length);
});

test('an image from which another platform may boot stays until that has closed', async (t) => {
  const { platform } = shared(t);
  const [one, other, third] = await Promise.all([platform(), platform(), platform()]);
  const former = await make(one, 'former');
  assert.equal(await make(other, 'former'), former);
  await make(third, 'current');
  await third.removeFormer();
  assert.ok(existsSync(former), 'two use it');
  one.close();
  await third.removeFormer();
  assert.ok(existsSync(former), 'one uses it');
  other.close();
  await third.removeFormer();
  assert.equal(existsSync(former), false);
});

test('of two platforms that make the same image at the same time, neither loses it to the other', async (t) => {
  const { platform } = shared(t);
  const [one, other, third] = await Promise.all([platform(), platform(), platform()]);
  const [first, second] = await Promise.all([make(one, 'former'), make(other, 'former')]);
  assert.equal(first, second);
  await make(third, 'current');
  for (const images of [one, other]) {
    await third.removeFormer();
    assert.ok(existsSync(first));
    images.close();
  }
  await third.removeFormer();
  assert.equal(existsSync(first), false);
});

test('an image that is asked for while others remove it is there when it is given', async (t) => {
  const { platform } = shared(t);
  const remover = await platform();
  await make(remover, 'current');
  let over = false;
  const removing = (async () => {
    for (; !over; await setImmediate()) await remover.removeFormer();
  })();
  for (let round = 0; round < 20; round += 1) {
    const images = await platform();
    const file = await make(images, 'former');
    assert.ok(existsSync(file));
    await remover.removeFormer();
    assert.ok(existsSync(file));
    images.close();
  }
  over = true;
  await removing;
});

test('what a killed platform used or had begun is removed; what another is making is not', async (t) => {
  const { folder, platform } = shared(t);
  const source = `
    import { openImages } from ${JSON.stringify(new URL('images.ts', import.meta.url).href)};
    const images = await openImages(${JSON.stringify(folder)}, 'mkfs.erofs');
    await images.file('base', 'former', async () => Buffer.from('former'));
    setInterval(() => {}, 1000);
    await images.file('base', 'begun', () => { console.log('begun'); return new Promise(() => {}); });`;
  const killed = spawn(process.execPath, ['--input-type=module', '--eval', source], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => killed.kill('SIGKILL'));
  await once(killed.stdout, 'data');
  const making = () => readdirSync(folder).filter((name) => name.startsWith('making-'));

  const images = await platform();
  await make(images, 'current');
  await images.removeFormer();
  assert.equal(making().length, 1, 'it is still being made');
  assert.equal(readdirSync(folder).filter((name) => name.startsWith('base-')).length, 2);

  killed.kill('SIGKILL');
  await once(killed, 'exit');
  await until('the lock to be gone', async () => {
    await (await platform()).removeFormer();
    return making().length === 0;
  });
  await images.removeFormer();
  assert.equal(readdirSync(folder).length, 1);
});

test('a folder that cannot be made into an image leaves nothing behind', async (t) => {
  const { folder, platform } = shared(t);
  const images = await platform();
  await assert.rejects(
    images.file('base', 'broken', () => Promise.reject(new Error('no space'))),
    { name: 'LaunchError', detail: 'Error: no space' },
  );
  assert.deepEqual(readdirSync(folder), []);
});
