// A volume is kept, is as large as its manifest says, and leads nowhere whatever its workload left in it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { makePlace, type Place } from '../../test-support/place.ts';
import { TEST_UID } from '../../test-support/sandboxes.ts';
import { findImageTools } from './ext4-image.ts';
import { mountsBelow } from './mounts.ts';
import { openVolumes, type Volumes } from './volumes.ts';

const tools = findImageTools();
const images = { skip: typeof tools === 'string' ? `no image can be mounted here: ${tools}` : false };
const uid = process.getuid?.() === 0 ? TEST_UID : undefined;
const MiB = 1024 * 1024;

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
  assert.deepEqual(mountsBelow(directory), []);
  place.remove();
});

const request = (diskMiB = 16, installationId = 'inst-one') => ({ installationId, uid, diskMiB });

/** Loop devices that still hold a file of this test. */
function loops(): string {
  return execFileSync('losetup', ['--list', '--noheadings', '--output', 'BACK-FILE'], { encoding: 'utf8' })
    .split('\n')
    .filter((file) => file.includes(place.folder))
    .join();
}

function fill(file: string): { written: number; code: string } {
  const descriptor = openSync(file, 'w');
  const block = Buffer.alloc(MiB, 1);
  let written = 0;
  try {
    for (; written < 256; written += 1) writeSync(descriptor, block);
    return { written, code: 'never full' };
  } catch (error) {
    return { written, code: String((error as NodeJS.ErrnoException).code) };
  } finally {
    closeSync(descriptor);
  }
}

test('what is written is there again, and no other user can access the volume', async () => {
  const first = await volumes.attach(request());
  writeFileSync(join(first.folder, 'kept'), 'kept');
  const { mode, uid: owner } = statSync(first.folder);
  assert.equal(mode & 0o777, 0o700);
  if (uid !== undefined) assert.equal(owner, uid);
  assert.deepEqual(readdirSync(first.folder), ['kept']);
  await first.release();
  const again = await openVolumes(directory).attach(request());
  assert.equal(readFileSync(join(again.folder, 'kept'), 'utf8'), 'kept');
  await again.release();
});

test('one volume has one user at a time', async () => {
  const one = await volumes.attach(request());
  await assert.rejects(volumes.attach(request()), /in use/);
  const other = await volumes.attach(request(16, 'inst-other'));
  await Promise.all([one.release(), other.release()]);
  await (await volumes.attach(request())).release();
});

test('where its size cannot be limited, it is a plain folder, and the reason is reported', async () => {
  const plain = openVolumes(directory, 'only root can');
  const volume = await plain.attach(request());
  assert.equal(plain.unlimited('inst-one'), 'only root can');
  writeFileSync(join(volume.folder, 'kept'), 'kept');
  await volume.release();
  const later = await volumes.attach(request());
  assert.equal(readFileSync(join(later.folder, 'kept'), 'utf8'), 'kept', 'and stays one');
  assert.match(volumes.unlimited('inst-one') ?? '', /without a limit|only root/);
  await later.release();
});

test('its size is a limit, and grows with the manifest but never shrinks', images, async () => {
  const small = await volumes.attach(request(16));
  assert.equal(volumes.unlimited('inst-one'), undefined);
  const first = fill(join(small.folder, 'fill'));
  assert.equal(first.code, 'ENOSPC');
  assert.ok(first.written >= 8 && first.written <= 16, `${first.written} MiB`);
  await small.release();
  const larger = await volumes.attach(request(48));
  assert.equal(statSync(join(larger.folder, 'fill')).size, first.written * MiB);
  rmSync(join(larger.folder, 'fill'));
  const second = fill(join(larger.folder, 'fill'));
  assert.equal(second.code, 'ENOSPC');
  assert.ok(second.written > 32 && second.written <= 48, `${second.written} MiB`);
  await larger.release();
  const smaller = await volumes.attach(request(16));
  assert.equal(statSync(join(smaller.folder, 'fill')).size, second.written * MiB);
  await smaller.release();
});

test('an image takes only the room that is used, and gives back its mount and its loop device', images, async () => {
  const volume = await volumes.attach(request(4_096));
  const { blocks } = statSync(join(directory, 'inst-one.ext4'));
  assert.ok(blocks * 512 < 128 * MiB, `${(blocks * 512) / MiB} MiB of 4096`);
  assert.match(loops(), /inst-one/);
  assert.equal(statSync(join(directory, 'inst-one.ext4')).mode & 0o777, 0o600);
  await volume.release();
  assert.deepEqual(mountsBelow(directory), []);
  assert.equal(loops(), '');
});

test('devices and programs of another user in it are dead', images, async () => {
  const volume = await volumes.attach(request());
  execFileSync('mknod', [join(volume.folder, 'disk'), 'b', '7', '0']);
  execFileSync('mknod', ['-m', '666', join(volume.folder, 'zero'), 'c', '1', '5']);
  execFileSync('cp', ['/usr/bin/id', join(volume.folder, 'id')]);
  execFileSync('chmod', ['4755', join(volume.folder, 'id')]);
  execFileSync('chmod', ['755', volume.folder]);
  assert.throws(() => readFileSync(join(volume.folder, 'zero')), /EACCES/);
  const shown = execFileSync(join(volume.folder, 'id'), ['-u'], { uid: TEST_UID, encoding: 'utf8' });
  assert.equal(shown.trim(), String(TEST_UID));
  await volume.release();
});

test('a start of the Runtime finds what a killed one left mounted: used again, or unmounted', images, async () => {
  const left = await volumes.attach(request());
  writeFileSync(join(left.folder, 'kept'), 'kept');
  const other = await volumes.attach(request(16, 'inst-other'));
  writeFileSync(join(other.folder, 'kept'), 'kept');
  const next = openVolumes(directory);
  const again = await next.attach(request());
  assert.equal(mountsBelow(directory).length, 2, 'not mounted twice');
  await next.sweep();
  assert.deepEqual(
    mountsBelow(directory).map(({ folder }) => folder),
    [again.folder],
  );
  assert.equal(readFileSync(join(again.folder, 'kept'), 'utf8'), 'kept');
  await again.release();
  assert.equal(loops(), '');
});

test('half an image of an interrupted making is made anew', images, async () => {
  writeFileSync(join(directory, 'inst-one.ext4.new'), 'half');
  const volume = await volumes.attach(request());
  assert.ok(statfsSync(volume.folder).blocks > 0);
  await volume.release();
  assert.ok(!existsSync(join(directory, 'inst-one.ext4.new')));
});

test('a machine that mounts no images after all makes folders, and says so', images, async () => {
  if (typeof tools === 'string') return;
  const broken = openVolumes(directory, { ...tools, mount: '/bin/false' });
  const volume = await broken.attach(request());
  assert.equal(statSync(volume.folder).uid, TEST_UID);
  assert.match(broken.unlimited('inst-one') ?? '', /could not mount/);
  assert.deepEqual(readdirSync(directory), ['inst-one']);
  await volume.release();
});

test(
  'a failure of the moment on a machine that mounts images is one, and takes nothing from other volumes',
  images,
  async () => {
    if (typeof tools === 'string') return;
    await (await volumes.attach(request())).release();
    const failing = openVolumes(directory, { ...tools, makeFileSystem: '/bin/false' });
    await assert.rejects(failing.attach(request(16, 'inst-two')));
    assert.deepEqual(readdirSync(directory).toSorted(), ['inst-one', 'inst-one.ext4'], 'no folder without a limit');
    await (await failing.attach(request())).release();
  },
);

test('an image that cannot be mounted is never taken for an empty volume', images, async () => {
  await (await volumes.attach(request())).release();
  await assert.rejects(openVolumes(directory, 'no loop devices').attach(request()), /cannot be mounted/);
  mkdirSync(join(directory, 'inst-bad'));
  writeFileSync(join(directory, 'inst-bad.ext4'), Buffer.alloc(MiB));
  await assert.rejects(volumes.attach(request(16, 'inst-bad')));
  assert.deepEqual(readdirSync(join(directory, 'inst-bad')), []);
});

for (const [kind, settings] of Object.entries({ images, folders: {} }))
  test(`a volume that was made here and is gone is missed, and never made anew: ${kind}`, settings, async () => {
    const open = () => (kind === 'images' ? openVolumes(directory) : openVolumes(directory, 'none here'));
    await (await open().attach(request())).release();
    const lose: Record<string, () => void> = {
      'the volume alone': () => {
        rmSync(join(directory, kind === 'images' ? 'inst-one.ext4' : 'inst-one'), { recursive: true });
      },
      'all that is there': () => rmSync(directory, { recursive: true }),
    };
    for (const [what, go] of Object.entries(lose)) {
      const kept = `${directory}.kept`;
      execFileSync('cp', ['-a', '--sparse=always', directory, kept]);
      go();
      const volumes = open();
      await assert.rejects(
        volumes.attach(request()),
        { name: 'StartRefused', message: /is missing on this machine/ },
        what,
      );
      assert.throws(() => volumes.place('inst-one'), { name: 'StartRefused' });
      await (await volumes.attach(request(16, 'inst-new'))).release();
      await volumes.remove('inst-new');
      rmSync(directory, { recursive: true, force: true });
      execFileSync('mv', [kept, directory]);
      await (await open().attach(request())).release();
    }
    rmSync(join(directory, kind === 'images' ? 'inst-one.ext4' : 'inst-one'), { recursive: true });
    rmSync(`${directory}.known/inst-one`);
    await (await open().attach(request())).release();
    await open().remove('inst-one');
    await (await open().attach(request())).release();
  });

test('a volume of a version that noted none is known from then on', async () => {
  const before = openVolumes(directory, 'none here');
  await (await before.attach(request())).release();
  rmSync(`${directory}.known`, { recursive: true });
  openVolumes(directory, 'none here');
  rmSync(join(directory, 'inst-one'), { recursive: true });
  await assert.rejects(openVolumes(directory, 'none here').attach(request()), { name: 'StartRefused' });
});

test('volumes that a driver makes are noted by it, and missed as well', () => {
  const volumes = openVolumes(directory);
  writeFileSync(`${volumes.place('inst-one')}.img`, '');
  volumes.noteMade('inst-one');
  volumes.place('inst-one');
  rmSync(join(directory, 'inst-one.img'));
  assert.throws(() => volumes.place('inst-one'), { name: 'StartRefused' });
});

for (const kind of ['folder', 'image'] as const) {
  test(`a removal of a volume as ${kind === 'folder' ? 'a folder' : 'an image'} that ends at any file leaves one that is there or one that is not missed`, {
    skip: kind === 'image' && images.skip,
  }, async (context) => {
    const made = () => (kind === 'image' ? openVolumes(directory) : openVolumes(directory, 'without images'));
    const { rm } = promises;
    for (let files = 0; files < 3; files += 1) {
      const { release } = await made().attach(request());
      await release();
      // The process ends right after so many were removed.
      let left = files;
      context.mock.method(promises, 'rm', async (...given: Parameters<typeof rm>) => {
        if (left === 0) throw new Error('killed');
        left -= 1;
        await rm(...given);
        if (left === 0) throw new Error('killed');
      });
      syncBuiltinESMExports();
      await made()
        .remove('inst-one')
        .catch(() => undefined);
      context.mock.restoreAll();
      syncBuiltinESMExports();
      const next = made();
      next.place('inst-one');
      await next.remove('inst-one');
      assert.deepEqual(readdirSync(directory), []);
      assert.deepEqual(readdirSync(`${directory}.known`), []);
    }
  });
}
