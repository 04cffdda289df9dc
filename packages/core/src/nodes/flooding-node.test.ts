// A node that answers core without end, in whatever pieces, or says nothing: what core holds of it is bounded, every
// question ends in time, and core goes on answering everybody else.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import { type InstallationId, limits, MiB } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { problemCode } from '../../../../tests/support/raw-http.ts';
import { thorough } from '../../../../tests/support/thorough.ts';
import { until } from '../../../../tests/support/wait.ts';
import { install, installationRow, nodeWorkload, publish } from '../../test-support/apps.ts';
import { type NodeDouble, startNodeDouble, statusOf } from '../../test-support/node-double.ts';
import { Intake } from './intake.ts';
import { Nodes } from './nodes.ts';

let platform: Constellation;
let double: NodeDouble;
let usual: NodeDouble['answer'];
let account: TestAccount;
let id: InstallationId;

before(async () => {
  platform = await startConstellation();
  double = await startNodeDouble(platform);
  usual = double.answer;
  account = await registerAccount(platform, 'reader');
  await publish(account, 'logging', { workload: nodeWorkload });
  await install(account, 'logging');
  id = (await installationRow(platform, account, 'logging')).id as InstallationId;
});
beforeEach(() => {
  double.answer = usual;
});
after(async () => {
  await platform.close();
  await double.close();
});

const STREAMS = thorough(16, 200);
/** Many times what core may hold, and many times less than it held before there was a share. */
const MOST_MEMORY = 192 * MiB;

const chunked = (piece: string): string => `${piece.length.toString(16)}\r\n${piece}\r\n`;
const entry = '{"at":"2026-11-21T10:00:00.000Z","stream":"stdout","line":""}';

/** What a node may write over and over, as it goes over the wire. */
const FLOODS: Readonly<Record<string, { readonly first?: string; readonly again: string }>> = {
  'a line without an end': { again: chunked('x'.repeat(64 * 1024)) },
  'a line without an end, a byte in a piece': { again: chunked('x').repeat(10_000) },
  'a line without an end, of empty arrays': { first: chunked('{"items":['), again: chunked('[],'.repeat(20_000)) },
  'a line without an end, of entries': {
    first: chunked('{"items":['),
    again: chunked(`${entry},`.repeat(500)),
  },
  'empty lines': { again: chunked('\n'.repeat(64 * 1024)) },
  'empty lines, each in a piece': { again: chunked('\n').repeat(10_000) },
  'pieces without a line of the log': { again: chunked('{"items":[],"last":1,"missed":0}\n'.repeat(2_000)) },
  'lines that are none': { again: chunked('{}\n'.repeat(20_000)) },
  'extensions of chunks': { again: `1;${'e'.repeat(10_000)}\r\n\n\r\n` },
};

/** Writes without end, as fast as it is read, and counts what was taken. */
function flood({ first = '', again }: { readonly first?: string; readonly again: string }) {
  const bytes = Buffer.from(again);
  const taken = { bytes: 0, open: 0 };
  const body = async (response: ServerResponse): Promise<void> => {
    const socket = response.socket ?? assert.fail('no socket');
    socket.on('error', () => undefined);
    response.flushHeaders();
    taken.open += 1;
    socket.once('close', () => (taken.open -= 1));
    socket.write(first);
    while (!socket.destroyed) {
      taken.bytes += bytes.length;
      if (!socket.write(bytes)) await writable(socket);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { taken, answer: { headers: { 'transfer-encoding': 'chunked' }, body } };
}

/** Resolves when there is room again, or never will be. */
function writable(socket: Socket): Promise<void> {
  return new Promise((resolve) => void socket.once('drain', resolve).once('close', () => resolve()));
}

/** Bytes of memory in use by the whole process. */
const memory = (): number => process.memoryUsage().rss;

for (const [what, bytes] of Object.entries(FLOODS)) {
  test(`log streams: ${what}`, async () => {
    const { taken, answer } = flood(bytes);
    double.answer = (call) => (call.path.includes('/logs/stream') ? answer : usual(call));
    const ending = new AbortController();
    const intake = new Intake();
    const nodes = new Nodes(platform.core.context, () => platform.core.localNode.nodeId, intake);
    const began = memory();
    let most = 0;
    let mostHeld = 0;
    const look = setInterval(() => {
      most = Math.max(most, memory() - began);
      mostHeld = Math.max(mostHeld, intake.bytes);
    }, 5);
    let ended = 0;
    const streams = Array.from({ length: STREAMS }, async () => {
      try {
        for await (const piece of await nodes.followLogs(id, { newest: 1 }, ending.signal)) assert.ok(piece);
      } catch {
        // Said by the status of its end; a node that floods gets no better words.
      }
      ended += 1;
    });
    await until('the node to be read', () => taken.bytes > MiB || ended === STREAMS);
    // Others are answered while it floods.
    for (let count = 0; count < 20; count += 1) await account.browser.take('/v1/auth/session');
    ending.abort();
    await Promise.all(streams);
    await until('all connections to be closed', () => taken.open === 0);
    clearInterval(look);
    assert.equal(intake.bytes, 0, 'nothing is counted any more');
    assert.ok(mostHeld <= limits.nodeIntake.value, `core held ${mostHeld} bytes`);
    assert.ok(most < MOST_MEMORY, `the process grew by ${most} bytes`);
  });

  test(`answers: ${what}`, async () => {
    const { taken, answer } = flood(bytes);
    const began = memory();
    double.answer = () => answer;
    const paths = ['status', 'logs', 'logs?limit=1000'].flatMap((path) => [path, path, path]);
    const asked = await Promise.all(paths.map((path) => account.fetch(`/v1/apps/logging/${path}`)));
    for (const answered of asked) assert.equal(problemCode(answered), 'workload_unavailable');
    await until('all connections to be closed', () => taken.open === 0);
    assert.ok(memory() - began < MOST_MEMORY);
    double.answer = usual;
    assert.equal((await account.fetch('/v1/apps/logging/status')).status, 200, 'it may answer well again');
  });
}

test('a status that comes a byte at a time ends with its time, and so does one that never comes', async () => {
  const slow = (response: ServerResponse) => {
    const timer = setInterval(() => response.write(' '), 50);
    response.on('close', () => clearInterval(timer)).flushHeaders();
  };
  for (const body of [slow, (response: ServerResponse) => response.flushHeaders(), () => undefined]) {
    double.answer = () => ({ body });
    assert.equal(problemCode(await account.fetch('/v1/apps/logging/status')), 'workload_unavailable');
  }
});

test('a status that is too long, has a strange status or too many entries is no answer', async () => {
  const strange = [
    { body: JSON.stringify(statusOf({ method: '', path: id, authorization: '' })) + ' '.repeat(MiB) },
    ...[205, 299, 302, 404, 599, 600, 999].map((status) => ({ status, body: '' })),
  ];
  for (const answer of strange) {
    double.answer = () => answer;
    assert.equal(problemCode(await account.fetch('/v1/apps/logging/status')), 'workload_unavailable');
  }
  double.answer = () => ({ body: `{"items":[${'{},'.repeat(300_000)}{}],"before":null}` });
  assert.equal(problemCode(await account.fetch('/v1/apps/logging/logs')), 'workload_unavailable');
});
