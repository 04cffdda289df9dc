// Images of registries: from a real one as it is, and from one that lies, delays or leads astray not at all.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { readImageReference } from '@platform/contract';
import { digestOf, type TestImage, testImage } from '../../../../test-support/image-archive.ts';
import { registryMissing, startRegistry, type TestRegistry } from '../../../../test-support/image-registry.ts';
import { portOf } from '../../../../test-support/port-of.ts';
import { type FetchOptions, fetchImage } from './fetch-image.ts';
import { openFetchedImages } from './fetched-images.ts';
import { checkImageArchive } from './image-archive.ts';
import { RegistryError } from './registry.ts';

const folder = mkdtempSync(join(tmpdir(), 'fetch-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const said: string[] = [];
const write = (fields: object, message: string) => void said.push(`${message} ${JSON.stringify(fields)}`);
const log = { debug: write, info: write, warn: write, error: write };
let files = 0;

async function fetchFrom(name: string, more: Partial<FetchOptions> = {}): Promise<string> {
  const reference = readImageReference(name);
  assert.ok(reference !== undefined, name);
  files += 1;
  const file = join(folder, `archive-${files}`);
  await fetchImage({ reference, file, log, abort: new AbortController().signal, ...more });
  return file;
}

const refuses = (name: string, sentence: RegExp, more: Partial<FetchOptions> = {}) =>
  assert.rejects(fetchFrom(name, more), (error) => error instanceof RegistryError && sentence.test(error.message));

describe('a real registry', { skip: registryMissing() }, () => {
  let registry: TestRegistry;
  let image: TestImage;
  before(async () => {
    registry = await startRegistry();
    image = await testImage({}, { programs: 'none' });
  });
  after(() => registry.stop());

  test('gives an image as an archive with what it holds, and the log says that it comes', async () => {
    const file = await fetchFrom(await registry.push('team/app', await testImage({}, { programs: 'none' })));
    const { layers, config } = await checkImageArchive(file);
    assert.equal(layers.length, 1);
    assert.equal(config.os, 'linux');
    assert.match(said.join('\n'), /an image is being fetched .*"bytes":\d+/);
  });

  test('reports a missing image, and a registry at which nothing listens', async () => {
    await refuses(`${registry.host}/team/app@sha256:${'0'.repeat(64)}`, /does not have it/);
    await refuses(`127.0.0.1:1/team/app@${digestOf(image.manifest)}`, /does not answer \(ECONNREFUSED\)/);
  });

  test('is not asked for more than is allowed', async () => {
    const name = await registry.push('team/large', image);
    await refuses(name, /, and 10 bytes are allowed/, { largest: 10 });
  });
});

describe('a registry that misbehaves', () => {
  type Answer = (req: http.IncomingMessage, res: http.ServerResponse) => void;
  let answer: Answer;
  let image: TestImage;
  let name: string;
  const requests: { readonly url: string; readonly authorization: string | undefined }[] = [];
  const server = http.createServer((req, res) => {
    requests.push({ url: req.url ?? '', authorization: req.headers.authorization });
    answer(req, res);
  });
  /** What an honest one would answer. */
  const honest: Answer = ({ url }, res) => {
    const content = [image.manifest, image.config, image.layer].find((one) => url?.endsWith(digestOf(one)));
    res.writeHead(content === undefined ? 404 : 200).end(content);
  };
  const isFor = (content: Buffer, { url }: http.IncomingMessage) => url?.endsWith(digestOf(content)) === true;
  before(async () => {
    image = await testImage({}, { programs: 'none' });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    name = `127.0.0.1:${portOf(server)}/app@${digestOf(image.manifest)}`;
  });
  after(() => {
    server.close();
    server.closeAllConnections();
  });

  test('cannot give another manifest, configuration or layer than the digest names', async () => {
    for (const spoilt of [image.manifest, image.config, image.layer]) {
      const other = Buffer.from(spoilt);
      other.writeUInt8(other.readUInt8(9) ^ 1, 9);
      answer = (req, res) => (isFor(spoilt, req) ? res.writeHead(200).end(other) : honest(req, res));
      await refuses(name, /does not match its digest/);
      answer = (req, res) => (isFor(spoilt, req) ? res.writeHead(200).end(spoilt.subarray(1)) : honest(req, res));
      await refuses(name, /does not match its digest/);
      answer = (req, res) =>
        isFor(spoilt, req) ? res.writeHead(200).end(Buffer.concat([spoilt, Buffer.from(' ')])) : honest(req, res);
      await refuses(name, /does not match its digest/);
    }
  });

  test('cannot redirect without TLS, nor in circles', async () => {
    answer = (_req, res) => res.writeHead(307, { location: 'http://registry.example/elsewhere' }).end();
    await refuses(name, /redirects to registry.example without TLS/);
    answer = (req, res) => res.writeHead(307, { location: req.url }).end();
    await refuses(name, /redirects too often/);
  });

  test('cannot fill the memory with an endless manifest', async () => {
    answer = (_req, res) => {
      const more = () => res.write(' '.repeat(64 * 1024), () => !res.destroyed && more());
      more();
    };
    await refuses(name, /too long/);
  });

  test('is not waited for longer than the limit', async () => {
    answer = () => undefined;
    await refuses(name, /took longer than/, { limit: 50 });
    answer = (req, res) => (isFor(image.layer, req) ? res.writeHead(200).write('x') : honest(req, res));
    await refuses(name, /took longer than/, { limit: 50 });
  });

  test('that breaks off is said to have done so, and may be asked again', async () => {
    answer = (req, res) => {
      if (!isFor(image.layer, req)) return honest(req, res);
      res.writeHead(200).write('x', () => res.destroy());
    };
    await assert.rejects(fetchFrom(name), (error) => error instanceof RegistryError && error.passing);
    answer = (_req, res) => res.writeHead(503).end();
    await assert.rejects(fetchFrom(name), (error) => error instanceof RegistryError && error.passing);
  });

  test('is shown a token if it wants one, which it gives to anybody, and no other host is', async () => {
    const origin = `http://127.0.0.1:${portOf(server)}`;
    const stranger = http.createServer((req, res) => {
      requests.push({ url: 'stranger', authorization: req.headers.authorization });
      honest(req, res);
    });
    stranger.listen(0, '127.0.0.1');
    await once(stranger, 'listening');
    answer = (req, res) => {
      if (req.url?.startsWith('/token?') === true) return res.end('{"token":"anybody"}');
      if (req.headers.authorization !== 'Bearer anybody')
        return res.writeHead(401, { 'www-authenticate': `Bearer realm="${origin}/token",service="of tests"` }).end();
      if (isFor(image.layer, req))
        return res.writeHead(307, { location: `http://127.0.0.1:${portOf(stranger)}${req.url}` }).end();
      return honest(req, res);
    };
    requests.length = 0;
    await fetchFrom(name);
    stranger.close();
    assert.ok(requests.some(({ url }) => url === '/token?service=of+tests&scope=repository%3Aapp%3Apull'));
    assert.deepEqual(
      requests.filter(({ url }) => url === 'stranger').map(({ authorization }) => authorization),
      [undefined],
    );
    answer = (_req, res) => res.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end();
    await refuses(name, /requires a login for it/);
  });

  test('gets one request for all callers that wait, and none once no caller waits', async () => {
    const reference = readImageReference(name);
    assert.ok(reference !== undefined);
    const place = join(folder, 'kept');
    const images = openFetchedImages({ folder: place, log });
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
    answer = (req, res) => void held.then(() => honest(req, res));
    requests.length = 0;
    const taken: string[] = [];
    const take = async (file: string) => void taken.push(file);
    const one = new AbortController();
    const [first, second] = [
      images.fetch(reference, take, one.signal),
      images.fetch(reference, take, new AbortController().signal),
    ];
    one.abort(new Error('given up'));
    await assert.rejects(first, /given up/);
    letGo();
    await second;
    assert.equal(taken.length, 1);
    assert.equal(requests.length, 3);
    assert.ok(!existsSync(taken[0] ?? ''));
    answer = () => undefined;
    const alone = new AbortController();
    const third = images.fetch(reference, take, alone.signal);
    alone.abort(new Error('given up'));
    await assert.rejects(third, /given up/);
    answer = honest;
    await images.fetch(reference, take, new AbortController().signal);
    assert.equal(taken.length, 2);
  });
});
