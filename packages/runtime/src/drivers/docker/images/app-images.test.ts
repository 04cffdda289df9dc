// Images of packages where there is no room, on the disk or for the account: none is loaded, and what may go better later is
// tried again.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { imageArchive } from '../../../../test-support/image-archive.ts';
import { DiskFullError, type RequireRoom } from '../../../disk-watch.ts';
import { LaunchError, StartRefused } from '../../driver.ts';
import { openEngine } from '../engine.ts';
import { openAppImages } from './app-images.ts';

const silent = () => undefined;
const log = { debug: silent, info: silent, warn: silent, error: silent };

/** A package with an image, and an engine without room, which counts what it was given. */
async function scene(t: TestContext, requireRoom: RequireRoom) {
  const folder = mkdtempSync(join(tmpdir(), 'images-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const archive = await imageArchive({}, { programs: 'none' });
  writeFileSync(join(folder, 'image.tar'), archive);
  let loads = 0;
  const server = http.createServer((request, response) => {
    const isLoad = request.url?.startsWith('/images/load') === true;
    if (isLoad) loads += 1;
    request.resume().on('end', () => {
      if (isLoad) response.end('{"error":"write /layer.tar: no space left on device"}\n');
      else if (request.url?.startsWith('/images/json') === true) response.end('[]');
      else response.writeHead(404).end('{"message":"no such image"}');
    });
  });
  t.after(() => server.close());
  const socketPath = join(folder, 'engine.sock');
  server.listen(socketPath);
  await once(server, 'listening');
  const engine = await openEngine(socketPath);
  const images = openAppImages({
    engine,
    socketPath,
    owner: 'test',
    registries: ['127.0.0.1:1'],
    folder: join(folder, 'fetched'),
    requireRoom,
    log,
  });
  const ensure = (image: string, claim = (_bytes: number): Promise<void> => Promise.resolve()) =>
    images.ensure({ app: folder, image, abort: new AbortController().signal, claim });
  return { ensure, images, folder, loads: () => loads, bytes: archive.length };
}

test('no image is loaded or fetched where it would take of the reserve', async (t) => {
  const asked: (number | undefined)[] = [];
  const { ensure, loads, bytes } = await scene(t, (wanted) => {
    asked.push(wanted);
    throw new DiskFullError();
  });
  await assert.rejects(ensure('image.tar'), DiskFullError);
  await assert.rejects(ensure(`127.0.0.1:1/team/app@sha256:${'a'.repeat(64)}`), DiskFullError);
  assert.deepEqual([asked, loads()], [[bytes, undefined], 0]);
});

test('an engine whose own disk is full is tried again', async (t) => {
  const { ensure, loads } = await scene(t, () => undefined);
  for (const times of [1, 2]) {
    await assert.rejects(ensure('image.tar'), (error) => error instanceof LaunchError && /is full/.test(error.message));
    assert.equal(loads(), times);
  }
});

test('a caller whose account may not take the image is refused before the engine gets any, and no other for it', async (t) => {
  const { ensure, loads } = await scene(t, () => undefined);
  const claims: number[] = [];
  const refuse = async (bytes: number) => {
    claims.push(bytes);
    throw new StartRefused('The account has used up its disk space.');
  };
  await assert.rejects(ensure('image.tar', refuse), /used up its disk space/);
  assert.equal(loads(), 0);
  const outcomes = await Promise.allSettled([
    ensure('image.tar', refuse),
    ensure('image.tar'),
    ensure('image.tar', refuse),
  ]);
  // The others are refused by their own accounts, or learn what became of the load that they waited for.
  assert.match(
    String(outcomes[1]?.status === 'rejected' && outcomes[1].reason),
    /disk of the container engine is full/,
  );
  assert.equal(loads(), 1);
  assert.ok(
    claims.every((bytes) => bytes > 0 && bytes % 4_096 === 0),
    claims.join(),
  );
});

test('what is wrong with an image is found once', async (t) => {
  const { ensure, images, folder } = await scene(t, () => undefined);
  writeFileSync(join(folder, 'broken.tar'), await imageArchive({}, { spoil: 'layer' }));
  for (const _ of [1, 2]) {
    await assert.rejects(ensure('broken.tar'), /does not match its digest/);
    // Packages do not change; a second reading would find none.
    rmSync(join(folder, 'broken.tar'), { force: true });
  }
  await images.keepOnly([]);
  await assert.rejects(ensure('broken.tar'), /has no file workload\/broken\.tar/);
});
