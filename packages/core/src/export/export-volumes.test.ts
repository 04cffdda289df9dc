// The volumes in the export of an account: of installed and of removed apps, as their node sends them, and nothing that a
// node makes up. What is unpacked lies below the folder of its app.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { pipeline } from 'node:stream/promises';
import { after, before, beforeEach, test } from 'node:test';
import { createGunzip } from 'node:zlib';
import { limits } from '@platform/contract';
import { entryFrame, pieceHead, zerosFrame } from '@platform/contract/volume-stream';
import tar from 'tar-stream';
import { confirm, registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { until } from '../../../../tests/support/wait.ts';
import { install, nodeWorkload, publish } from '../../test-support/apps.ts';
import { type NodeDouble, startNodeDouble } from '../../test-support/node-double.ts';

const VOLUME = { ...nodeWorkload, volume: true, resources: { diskMiB: 10 } };

let platform: Constellation;
let node: NodeDouble;
let running: NodeDouble['answer'];
let account: TestAccount;
let count = 0;
/** What the node sends for every volume. */
let frames: Iterable<Buffer>;
/** Answers of volumes that are under way at the node. */
let underWay = 0;

before(async () => {
  platform = await startConstellation();
  node = await startNodeDouble(platform);
  running = node.answer;
});
after(async () => {
  await platform.close();
  await node.close();
});
beforeEach(async () => {
  count += 1;
  account = await registerAccount(platform, `keeper-${count}`);
  await publish(account, `diary-${count}`, { workload: VOLUME });
  await install(account, `diary-${count}`);
  frames = [END];
  node.answer = (call) => (call.path.endsWith('/volume/content') ? { body: send } : running(call));
});

const END = entryFrame({ type: 'end' });
const folder = (path: string) => entryFrame({ type: 'folder', path, modified: 0 });
const file = (path: string, text: string) => [
  entryFrame({ type: 'file', path, bytes: text.length, executable: false, modified: 86_400_000 }),
  ...(text === '' ? [] : [pieceHead(text.length), Buffer.from(text)]),
];
const link = (path: string, target: string) => entryFrame({ type: 'link', path, target });

async function send(response: http.ServerResponse): Promise<void> {
  underWay += 1;
  let wake: () => void = () => undefined;
  response.on('drain', () => wake());
  response.on('close', () => {
    underWay -= 1;
    wake();
  });
  for (const frame of frames) {
    if (response.destroyed) return;
    if (response.write(frame)) continue;
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
  response.end();
}

async function begin(body: object = {}): Promise<http.IncomingMessage> {
  const text = JSON.stringify({ confirmation: await confirm(account, 'account.export'), ...body });
  const request = http.request({
    host: '127.0.0.1',
    port: platform.port,
    path: '/v1/account/export',
    method: 'POST',
    agent: false,
    headers: {
      host: new URL(platform.origin).host,
      origin: platform.origin,
      cookie: account.cookie,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    },
  });
  request.end(text);
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  assert.equal(response.statusCode, 200);
  return response;
}

interface Unpacked {
  readonly type: string;
  readonly content: string;
  readonly linkname: string | null | undefined;
}

/** What lies below the folder of the app, in its order. Rejects unless the archive is complete. */
async function unpacked(response: http.IncomingMessage): Promise<Map<string, Unpacked>> {
  const entries = new Map<string, Unpacked>();
  const extract = tar.extract();
  const read = async () => {
    for await (const entry of extract) {
      const pieces: Buffer[] = [];
      for await (const piece of entry as AsyncIterable<Buffer>) pieces.push(piece);
      const { name, type, linkname } = entry.header;
      const [, path] = /^[^/]+\/apps\/diary-\d+\/(volume.*)$/.exec(name) ?? [];
      const content = Buffer.concat(pieces).toString('latin1');
      if (path !== undefined) entries.set(path, { type: String(type), content, linkname });
    }
  };
  await Promise.all([pipeline(response, createGunzip(), extract), read()]);
  return entries;
}

const paths = (entries: ReadonlyMap<string, Unpacked>) => [...entries.keys()];
const leftOut = (entries: ReadonlyMap<string, Unpacked>) =>
  (entries.get('volume-left-out.jsonl')?.content ?? '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { path: string; why: string });

test('are in it, below the folder of their app', async () => {
  frames = [folder('a'), ...file('a/one', 'first'), link('a/up', '../two'), ...file('two', ''), END];
  const entries = await unpacked(await begin());
  assert.deepEqual(paths(entries), ['volume/a/', 'volume/a/one', 'volume/two', 'volume/a/up']);
  assert.equal(entries.get('volume/a/one')?.content, 'first');
  assert.deepEqual(entries.get('volume/a/up'), { type: 'symlink', content: '', linkname: '../two' });
});

test('of removed apps too, and none that its owner leaves out', async () => {
  frames = [...file('kept', 'x'), END];
  await account.fetch(`/v1/apps/diary-${count}`, { method: 'DELETE' });
  assert.deepEqual(paths(await unpacked(await begin())), ['volume/kept']);
  const asked = node.calls.length;
  assert.deepEqual(paths(await unpacked(await begin({ volumes: false }))), []);
  assert.ok(!node.calls.slice(asked).some(({ path }) => path.endsWith('/volume/content')));
});

test('none of another account', async () => {
  const other = account;
  frames = [...file('mine', 'x'), END];
  account = await registerAccount(platform, `other-${count}`);
  assert.deepEqual(paths(await unpacked(await begin())), []);
  account = other;
  assert.deepEqual(paths(await unpacked(await begin())), ['volume/mine']);
});

test('that were never made are nothing, and those that cannot be had are named', async () => {
  node.answer = (call) => (call.path.endsWith('/volume/content') ? { status: 204, body: '' } : running(call));
  assert.deepEqual(paths(await unpacked(await begin())), []);
  const detail = 'Its volume is missing on this machine.';
  const answers = [
    [{ status: 503, body: { code: 'workload_unavailable', detail } }, detail],
    [{ status: 404, body: { code: 'not_found' } }, 'machine'],
    [{ status: 200, body: '' }, null],
  ] as const;
  for (const [answer, why] of answers) {
    node.answer = (call) => (call.path.endsWith('/volume/content') ? answer : running(call));
    const response = await begin();
    if (why === null) await assert.rejects(unpacked(response));
    else {
      const [line] = leftOut(await unpacked(response));
      assert.equal(line?.path, '');
      assert.match(line?.why ?? '', new RegExp(why));
    }
  }
});

test('links that lead out, or lie below links, are named and not made; the others come last', async () => {
  const bad = [
    link('etc', '/etc'),
    link('up', '..'),
    link('around', 'd/../..'),
    folder('d'),
    link('d/l', '.'),
    folder('d/l'),
    link('d/l/up', '../..'),
  ];
  frames = [...bad, ...file('last', 'x'), END];
  const entries = await unpacked(await begin());
  assert.deepEqual(paths(entries), ['volume/d/', 'volume/d/l/', 'volume/last', 'volume/d/l', 'volume-left-out.jsonl']);
  assert.deepEqual(
    leftOut(entries).map(({ path }) => path),
    ['etc', 'up', 'around', 'd/l/up'],
  );
});

test('a file with several names is one', async () => {
  frames = [...file('one', 'same'), entryFrame({ type: 'name', path: 'two', of: 'one' }), END];
  const entries = await unpacked(await begin());
  const { type, linkname } = entries.get('volume/two') ?? assert.fail();
  assert.equal(type, 'link');
  assert.match(linkname ?? '', new RegExp(`/apps/diary-${count}/volume/one$`));
});

const lies: Record<string, () => Iterable<Buffer>> = {
  'a path out of the volume': () => [...file('../../evil', 'x'), END],
  'an absolute path': () => [...file('/etc/cron.d/evil', 'x'), END],
  'a file in a folder that it did not name': () => [...file('a/one', 'x'), END],
  'a second name for what lies elsewhere': () => [entryFrame({ type: 'name', path: 'a', of: '../x' }), END],
  'a size that its content has not': () => [
    entryFrame({ type: 'file', path: 'a', bytes: 5, executable: false, modified: 0 }),
    pieceHead(3),
    Buffer.from('abc'),
    END,
  ],
  'a file larger than any volume': () => [
    entryFrame({ type: 'file', path: 'a', bytes: limits.exportedVolume.value + 1, executable: false, modified: 0 }),
    zerosFrame(limits.exportedVolume.value + 1),
    END,
  ],
  'no end': () => [...file('a', 'x')],
  'what is no volume': () => [Buffer.alloc(100_000, 'x')],
};
for (const [lie, make] of Object.entries(lies))
  test(`a node that sends ${lie} makes it no archive`, async () => {
    frames = make();
    await assert.rejects(unpacked(await begin()));
    await until('core has left the node', () => underWay === 0);
  });

test('a client that reads nothing is waited for in little memory, and leaves the node when it goes', async () => {
  let made = 0;
  frames = (function* () {
    // No smaller when it is compressed.
    const noise = randomBytes(256 * 1024);
    yield entryFrame({ type: 'file', path: 'a', bytes: 2 ** 33, executable: false, modified: 0 });
    for (; ; made += 1) {
      yield pieceHead(noise.length);
      yield noise;
    }
  })();
  const response = await begin();
  response.pause();
  let before = 0;
  let times = 0;
  await until('the node is held back', () => {
    times = made > 0 && made === before ? times + 1 : 0;
    before = made;
    return times > 20;
  });
  response.destroy();
  await until('core has left the node', () => underWay === 0);
  assert.ok(made < 400, `${made} pieces`);
});

test('a million folders wait at the node, not in core', async () => {
  let made = 0;
  frames = (function* () {
    for (; made < 1_000_000; made += 1) yield folder(`${'long-'.repeat(40)}${made}`);
  })();
  const response = await begin();
  response.pause();
  await until('some have come', () => made > 500);
  response.destroy();
  await until('core has left the node', () => underWay === 0);
  assert.ok(made < 100_000, `${made} folders`);
});
