// Images of packages on a disk that is full: none is loaded into the reserve, and what failed for it is tried again.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { imageArchive } from '../../../test-support/image-archive.ts';
import { DiskFullError, type RequireRoom } from '../../disk-watch.ts';
import { LaunchError } from '../driver.ts';
import { openAppImages } from './app-images.ts';
import { openEngine } from './engine.ts';

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
  const images = await openAppImages({ engine, owner: 'test', registries: ['127.0.0.1:1'], folder, requireRoom, log });
  const ensure = (image: string) => images.ensure(folder, image, new AbortController().signal);
  return { ensure, loads: () => loads, bytes: archive.length };
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
