// A volume in a shared folder: one start at a time has it, and none of the past.
import assert from 'node:assert/strict';
import { lchownSync, lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { makePlace } from '../test-support/place.ts';
import { LaunchError, StartRefused } from './drivers/driver.ts';
import { examineSharedVolumes, openSharedVolumes, type SharedVolumes } from './shared-volumes.ts';

const place = makePlace();
const ID = 'inst-01890000-0000-7000-8000-000000000001';
const report = {
  driver: 'process',
  ok: true,
  mechanism: 'bubblewrap',
  limits: { memory: false, cpus: false, pids: false, sockets: false },
  reasons: [],
} as const;
const abort = new AbortController().signal;
after(() => place.remove());

function open(name: string): SharedVolumes {
  const folder = join(place.folder, name);
  mkdirSync(folder, { recursive: true });
  return openSharedVolumes(folder, report) ?? assert.fail('the folder is not shared');
}

test('all nodes with the folder name it alike, and no other folder has that name', () => {
  assert.equal(open('one').store, open('one').store);
  assert.notEqual(open('one').store, open('two').store);
});

test('a second start waits until the first has let go, and finds what it wrote', async () => {
  const [here, there] = [open('one'), open('one')];
  const first = await here.claim(ID, { epoch: 1, uid: undefined, abort });
  writeFileSync(join(first.folder, 'data'), 'kept');
  let passed = false;
  const second = there.claim(ID, { epoch: 2, uid: undefined, abort }).then((claim) => {
    passed = true;
    return claim;
  });
  await here.claim(`${ID}-other`, { epoch: 1, uid: undefined, abort }).then((other) => other.release());
  assert.equal(passed, false, 'other volumes are not held up, this one is');
  await first.release();
  const claim = await second;
  assert.equal(readFileSync(join(claim.folder, 'data'), 'utf8'), 'kept');
  await claim.release();
});

test('a start whose epoch is not newer than the last one is refused, also when the volume is not held', async () => {
  const volumes = open('three');
  const claim = await volumes.claim(ID, { epoch: 7, uid: undefined, abort });
  await claim.release();
  for (const epoch of [6, 7]) await assert.rejects(volumes.claim(ID, { epoch, uid: undefined, abort }), LaunchError);
  await (await volumes.claim(ID, { epoch: 8, uid: undefined, abort })).release();
});

test('an unreadable fence refuses every start', async () => {
  const volumes = open('four');
  await (await volumes.claim(ID, { epoch: 1, uid: undefined, abort })).release();
  writeFileSync(join(place.folder, 'four', '.platform-locks', ID), 'not a number');
  await assert.rejects(volumes.claim(ID, { epoch: 2, uid: undefined, abort }), StartRefused);
});

test('a start that is given up stops waiting', async () => {
  const volumes = open('five');
  const first = await volumes.claim(ID, { epoch: 1, uid: undefined, abort });
  const given = new AbortController();
  const waiting = volumes.claim(ID, { epoch: 2, uid: undefined, abort: given.signal });
  given.abort();
  await assert.rejects(waiting, { name: 'AbortError' });
  await first.release();
});

test('the volume becomes that of the user here; what a link points to stays as it is', {
  skip: process.getuid?.() === 0 ? false : 'only root may give files to another user',
}, async () => {
  const volumes = open('six');
  const [here, there] = [2_900_010, 2_900_011];
  const outside = join(place.folder, 'outside');
  writeFileSync(outside, 'of another program');
  const claim = await volumes.claim(ID, { epoch: 1, uid: here, abort });
  symlinkSync(outside, join(claim.folder, 'link'));
  lchownSync(join(claim.folder, 'link'), here, here);
  await claim.release();
  const moved = await volumes.claim(ID, { epoch: 2, uid: there, abort });
  assert.deepEqual(
    [moved.folder, join(moved.folder, 'link'), outside].map((file) => lstatSync(file).uid),
    [there, there, 0],
  );
  await moved.release();
});

test('a driver whose workloads outlive the Runtime has no shared volumes: the lock would not outlive it', () => {
  assert.equal(openSharedVolumes(place.folder, { ...report, driver: 'docker' }), undefined);
  assert.equal(openSharedVolumes(undefined, report), undefined);
});

test('a volume that was made and is gone is missed on every node, and never made anew', async () => {
  const volumes = open('eight');
  await (await volumes.claim(ID, { epoch: 1, uid: undefined, abort })).release();
  rmSync(join(place.folder, 'eight', ID), { recursive: true });
  for (const node of [volumes, open('eight')])
    await assert.rejects(node.claim(ID, { epoch: 2, uid: undefined, abort }), /missing in the shared folder/);
  await volumes.remove(ID, abort);
  await (await volumes.claim(ID, { epoch: 4, uid: undefined, abort })).release();
});

test('looking at them names what is missing, and takes no file of the folder itself for a volume', async () => {
  const shared = open('looked-at');
  for (const name of [ID, `${ID}-gone`])
    await (await shared.claim(name, { epoch: 1, uid: undefined, abort })).release();
  rmSync(join(place.folder, 'looked-at', `${ID}-gone`), { recursive: true });
  assert.deepEqual(await Array.fromAsync(examineSharedVolumes(join(place.folder, 'looked-at'))), [
    { installationId: ID, kind: 'folder', state: 'whole' },
    { installationId: `${ID}-gone`, kind: 'folder', state: 'missing' },
  ]);
});
