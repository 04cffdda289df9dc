// The parts of an Ingress that need no network: buckets, turns, who the client is, what is reported and logged.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { describe, test } from 'node:test';
import type { IngressReport } from '@platform/contract';
import { openAccessLog } from './access-log.ts';
import { clientReader } from './client-address.ts';
import { FrameBoundary } from './closing-frame.ts';
import { FairQueue } from './fair-queue.ts';
import { HeldBodies } from './held-bodies.ts';
import { Places } from './places.ts';
import { TokenBuckets } from './token-buckets.ts';
import { Traffic } from './traffic.ts';

describe('token buckets', () => {
  test('let a burst pass, then the rate, and say how long to wait', () => {
    let now = 0;
    const buckets = new TokenBuckets({ rate: 10, burst: 3, now: () => now });
    assert.deepEqual(
      [1, 2, 3].map(() => buckets.take('a')),
      [0, 0, 0],
    );
    assert.ok(Math.abs(buckets.take('a') - 0.1) < 1e-9);
    now = 100;
    assert.equal(buckets.take('a'), 0);
    assert.ok(buckets.take('a') > 0);
    now = 1_000_000;
    assert.deepEqual(
      [1, 2, 3].map(() => buckets.take('a')),
      [0, 0, 0],
    );
    assert.ok(buckets.take('a') > 0);
  });

  test('take bounded memory: what was idle longest is forgotten', () => {
    const buckets = new TokenBuckets({ rate: 1, burst: 1, most: 2, now: () => 0 });
    for (const pair of ['a', 'b', 'a', 'c']) buckets.take(pair);
    assert.equal(buckets.size, 2);
    assert.ok(buckets.take('a') > 0);
    assert.equal(buckets.take('b'), 0);
  });
});

describe('the queue of a node', () => {
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  test('gives installations their turns, however many wait for one of them', async () => {
    const queue = new FairQueue(1);
    const order: string[] = [];
    const leaves = new Map<string, () => void>();
    for (const one of ['a1', 'a2', 'a3', 'b1', 'c1'])
      leaves.set(
        one,
        queue.enter(one[0] ?? '', () => order.push(one)),
      );
    for (const expected of ['a1', 'a2', 'b1', 'c1', 'a3']) {
      await turn();
      assert.equal(order.at(-1), expected);
      leaves.get(expected)?.();
      leaves.get(expected)?.();
    }
    assert.equal(queue.waiting, 0);
  });

  test('forgets who leaves while waiting, or before the turn has begun', async () => {
    const queue = new FairQueue(1);
    const begun: string[] = [];
    const first = queue.enter('a', () => begun.push('first'));
    const second = queue.enter('b', () => begun.push('second'));
    queue.enter('c', () => begun.push('third'));
    second();
    first();
    await turn();
    assert.deepEqual(begun, ['third']);
  });
});

describe('the client', () => {
  const connection = { address: '::ffff:10.0.0.1', protocol: 'http' } as const;
  const forwarded = (list: string, proto?: string) => ({
    'x-forwarded-for': list,
    ...(proto === undefined ? {} : { 'x-forwarded-proto': proto }),
  });

  test('is the other end of the connection where no proxy is trusted, whatever it says', () => {
    const read = clientReader([]);
    assert.deepEqual(read(connection, forwarded('192.0.2.1', 'https')), { address: '10.0.0.1', protocol: 'http' });
  });

  test('is the last address in the list that is no trusted proxy; what precedes it is the client’s word', () => {
    const read = clientReader(['10.0.0.0/8', '2001:db8::/32']);
    const cases: readonly (readonly [string, string])[] = [
      ['192.0.2.1', '192.0.2.1'],
      ['203.0.113.9, 192.0.2.1', '192.0.2.1'],
      ['192.0.2.1, 10.0.0.2, 2001:db8::5', '192.0.2.1'],
      ['[2001:db9::1]:443, 10.0.0.2', '2001:db9::1'],
      ['192.0.2.1:5000', '192.0.2.1'],
      ['10.0.0.3', '10.0.0.3'],
      ['nonsense, 10.0.0.2', '10.0.0.2'],
      ['', '10.0.0.1'],
    ];
    for (const [list, address] of cases) assert.equal(read(connection, forwarded(list)).address, address, list);
    assert.equal(read(connection, forwarded('192.0.2.1', 'http, https')).protocol, 'https');
    assert.equal(read(connection, forwarded('192.0.2.1', 'gopher')).protocol, 'http');
    const stranger = { address: '192.0.2.7', protocol: 'https' } as const;
    assert.deepEqual(read(stranger, forwarded('192.0.2.1', 'http')), stranger);
  });

  test('has the protocol that the same proxy said, in each of its names', () => {
    const read = clientReader(['10.0.0.0/8']);
    const cases: readonly (readonly [list: string, protocols: string, address: string, protocol: string])[] = [
      ['192.0.2.1, 10.0.0.2', 'https, http', '192.0.2.1', 'https'],
      ['192.0.2.1, 10.0.0.2', 'http, https', '192.0.2.1', 'http'],
      ['192.0.2.1, 10.0.0.3, 10.0.0.2', 'wss, http, http', '192.0.2.1', 'https'],
      // What the client wrote before the first trusted proxy added its own.
      ['203.0.113.9, 192.0.2.1, 10.0.0.2', 'https, http, https', '192.0.2.1', 'http'],
      ['192.0.2.1', 'http, https', '192.0.2.1', 'https'],
      // The inner proxy passed on what the outer one said.
      ['192.0.2.1, 10.0.0.2', 'https', '192.0.2.1', 'https'],
      ['nonsense, 10.0.0.2', 'https, http', '10.0.0.2', 'http'],
      ['', 'https', '10.0.0.1', 'https'],
      ['192.0.2.1', '', '192.0.2.1', 'http'],
      ...['wss', 'WSS', 'https', 'HTTPS'].map((name) => ['192.0.2.1', name, '192.0.2.1', 'https'] as const),
      ...['ws', 'Ws', 'http', 'HTTP'].map((name) => ['192.0.2.1', name, '192.0.2.1', 'http'] as const),
    ];
    for (const [list, protocols, address, protocol] of cases)
      assert.deepEqual(read(connection, forwarded(list, protocols)), { address, protocol }, `${list}; ${protocols}`);
    const overTls = { ...connection, protocol: 'https' } as const;
    assert.equal(read(overTls, forwarded('192.0.2.1', 'ws')).protocol, 'http');
  });
});

describe('the places of an installation', () => {
  /** @returns those that had to give way */
  function filled(held: Readonly<Record<string, number>>, isIdle = true) {
    const places = new Places(8);
    const gone: string[] = [];
    const take = (network: string) =>
      places.take('app', { network, isIdle: () => isIdle, giveWay: () => gone.push(network) });
    for (const [network, count] of Object.entries(held)) for (let index = 0; index < count; index += 1) take(network);
    return {
      take,
      gone,
      takeOther: () => places.take('other', { network: 'a', isIdle: () => false, giveWay: () => assert.fail() }),
    };
  }
  const isRefused = (result: unknown) => typeof result !== 'function';

  test('go to a newcomer from a client that holds many and is idle on them', () => {
    const { take, gone, takeOther } = filled({ greedy: 7, small: 1 });
    assert.equal(isRefused(takeOther()), false);
    for (let index = 0; index < 3; index += 1) assert.equal(isRefused(take(`new-${index}`)), false);
    assert.deepEqual(gone, ['greedy', 'greedy', 'greedy']);
    assert.ok(isRefused(take('greedy')));
  });

  test('go to nobody where all are busy, or nobody holds many, or the newcomer does as well', () => {
    assert.ok(isRefused(filled({ greedy: 8 }, false).take('new')));
    const each = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`client-${index}`, 1]));
    assert.ok(isRefused(filled(each).take('new')));
    assert.ok(isRefused(filled({ a: 4, b: 4 }).take('b')));
    assert.ok(isRefused(filled({ a: 5, b: 3 }).take('b')));
  });

  test('are given back once', () => {
    const { take } = filled({ a: 7 });
    const leave = take('b');
    assert.ok(typeof leave === 'function');
    leave();
    leave();
    assert.equal(isRefused(take('a')), false);
    assert.ok(isRefused(take('a')));
  });
});

test('the boundary of frames is found however their bytes are cut', () => {
  const payload = (length: number) => Buffer.alloc(length, 0x81);
  const frames = [
    Buffer.from([0x81, 0]),
    Buffer.concat([Buffer.from([0x82, 126, 1, 0]), payload(256)]),
    Buffer.concat([Buffer.from([0x02, 127, 0, 0, 0, 0, 0, 1, 0, 0]), payload(65_536)]),
    Buffer.concat([Buffer.from([0x80, 0x83, 1, 2, 3, 4]), payload(3)]),
  ];
  const bytes = Buffer.concat(frames);
  const ends = new Set(frames.map((_, index) => Buffer.concat(frames.slice(0, index + 1)).length));
  for (const step of [1, 3, 7, 1_000, bytes.length]) {
    const boundary = new FrameBoundary();
    assert.ok(boundary.isAt);
    for (let at = 0; at < bytes.length; at += step) {
      boundary.passed(bytes.subarray(at, at + step));
      const passed = Math.min(at + step, bytes.length);
      assert.equal(boundary.isAt, ends.has(passed), `${passed} bytes in steps of ${step}`);
    }
  }
});

test('frames of two bytes take the Ingress no objects', () => {
  const boundary = new FrameBoundary();
  const pings = Buffer.alloc(64 * 1_024, Buffer.from([0x89, 0]));
  let objects = 0;
  pings.subarray = (...range) => {
    objects += 1;
    return Buffer.prototype.subarray.apply(pings, range);
  };
  boundary.passed(pings);
  assert.ok(boundary.isAt);
  assert.ok(objects < 10, `${objects} objects for ${pings.length / 2} frames`);
});

test('held bodies are bounded, for one network more than for all', () => {
  const bodies = new HeldBodies();
  const MiB = 1_024 * 1_024;
  const all = Array.from({ length: 4 }, () => bodies.take('a', MiB));
  assert.ok(all.every((one) => one !== null));
  assert.equal(bodies.take('a', 1), null);
  assert.ok(bodies.take('b', 1) !== null);
  all[0]?.();
  assert.ok(bodies.take('a', MiB) !== null);
});

test('a report that failed is repeated under its number, and what came meanwhile follows', async () => {
  const traffic = new Traffic();
  const sent: IngressReport[] = [];
  let fails = true;
  const core = {
    async report(report: IngressReport) {
      if (fails) throw new Error('away');
      sent.push(report);
    },
  };
  const { signal } = new AbortController();
  traffic.passed('a.example');
  await assert.rejects(traffic.report(core, signal));
  traffic.passed('a.example');
  traffic.refused('a.example', 'not_found');
  fails = false;
  await traffic.report(core, signal);
  await traffic.report(core, signal);
  assert.deepEqual(
    sent.map(({ sequence, items }) => [sequence, items]),
    [
      [1, [{ hostname: 'a.example', requests: 1, refused: {} }]],
      [2, [{ hostname: 'a.example', requests: 1, refused: { not_found: 1 } }]],
    ],
  );
  assert.equal(new Set(sent.map(({ run }) => run)).size, 1);
});

test('the access log has a line of JSON for each request', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'access-log-'));
  const file = path.join(folder, 'access.log');
  const log = openAccessLog({ file }, assert.fail, assert.fail);
  const entry = { time: new Date(0), host: 'a', method: 'GET', path: '/x', status: 200, bytes: 2 };
  log.write({ ...entry, milliseconds: 1.26, client: '192.0.2.1', requestId: 'r' });
  log.write({ ...entry, status: null, milliseconds: 2, client: '192.0.2.1', requestId: 's', refused: 'not_found' });
  await log.close();
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  rmSync(folder, { recursive: true });
  const common = {
    time: '1970-01-01T00:00:00.000Z',
    host: 'a',
    method: 'GET',
    path: '/x',
    bytes: 2,
    client: '192.0.2.1',
  };
  assert.deepEqual(
    lines.map((line) => JSON.parse(line)),
    [
      { ...common, status: 200, milliseconds: 1.3, requestId: 'r' },
      { ...common, status: null, milliseconds: 2, requestId: 's', refused: 'not_found' },
    ],
  );
});
