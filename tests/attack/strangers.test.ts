// Work that strangers cause: whoever sends what is slow, large, expanding or without end holds up himself and nobody
// else, and costs no more than a bounded piece of memory and time.
import assert from 'node:assert/strict';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { after, before, describe, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { limits } from '@platform/contract';
import pg from 'pg';
import { openRaw, type RawConnection } from '../../packages/http/test-support/raw-exchange.ts';
import { registerAccount, type TestAccount, TestBrowser } from '../support/client.ts';
import { type Constellation, startConstellation } from '../support/constellation.ts';
import { type InstalledTestApp, installTestApp } from '../support/installed-app.ts';
import { buildTestPackage, testManifest } from '../support/packages.ts';
import { problemCode, rawRequest } from '../support/raw-http.ts';
import { until } from '../support/wait.ts';

const UNFINISHED = limits.unfinishedBodies.value;
const INDEX = '/v1/services/search/index';
setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** Expands to eighteen characters. */
const EXPANDS = '\uFDFA';

let world: Constellation;
let accounts = 0;
before(async () => {
  world = await startConstellation();
});
after(() => world.close());

async function newAccount(): Promise<TestAccount> {
  accounts += 1;
  return registerAccount(world, `stranger-${accounts}`);
}

interface OpenRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What is sent of the body. */
  readonly body: string | Buffer;
  /** What is said of its length. Default: one byte more than is sent. */
  readonly length?: number;
}

/** A request of which the last byte is missing. */
async function openRequest({ method = 'POST', path, headers, body, length }: OpenRequest): Promise<RawConnection> {
  const bytes = Buffer.from(body);
  const all = {
    host: new URL(world.origin).host,
    'content-type': 'application/json',
    'content-length': String(length ?? bytes.length + 1),
    ...headers,
  };
  const fields = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  const head = Buffer.from(`${[`${method} ${path} HTTP/1.1`, ...fields].join('\r\n')}\r\n\r\n`);
  return openRaw(world.port, Buffer.concat([head, bytes]));
}

function answerOf(connection: RawConnection): { status: number; code: string } | undefined {
  const [answer] = connection.answers();
  return answer === undefined ? undefined : { status: answer.status, code: JSON.parse(answer.body || '{}').code };
}

function answered(connection: RawConnection): Promise<{ status: number; code: string }> {
  return until('an answer', () => answerOf(connection));
}

async function isHealthy(): Promise<void> {
  assert.equal((await new TestBrowser(world).fetch('/v1/health')).status, 200);
}

describe('a body of an authentication route', () => {
  const send = (body: string) => new TestBrowser(world).fetch('/v1/auth/login/options', { body });
  const shapes: Readonly<Record<string, (length: number) => string>> = {
    'text that expands': (length) => EXPANDS.repeat(length / 3),
    'a percent sign that encodes nothing, and text that expands': (length) => `%${EXPANDS.repeat(length / 3)}`,
    'signs that are encoded once more each time': (length) => `%${'25'.repeat(12)}${'a b '.repeat(length / 4)}`,
    'many beginnings of an address': (length) => `%${'otpauth://'.repeat(length / 10)}`,
    'many beginnings of a key': (length) => `%${'-----BEGIN A A A '.repeat(length / 17)}`,
  };

  for (const [what, shape] of Object.entries(shapes)) {
    test(`of ${what} holds up nobody, and is refused before it is read when it is large`, async () => {
      const small = Object.fromEntries([['label', shape(limits.authenticationBody.value - 200)]]);
      const large = JSON.stringify({ label: shape(250_000) });
      await send('{}');
      const delay = monitorEventLoopDelay({ resolution: 5 });
      delay.enable();
      const answers = [await send(JSON.stringify(small)), await send(large).catch(() => null)];
      delay.disable();
      const [one, two] = answers;
      assert.ok(one != null && ['invalid_request', 'forbidden_material'].includes(problemCode(one)), one?.text);
      if (two != null) assert.equal(problemCode(two), 'payload_too_large');
      assert.ok(delay.max < 1e9, `everything waited for ${delay.max / 1e6} ms`);
    });
  }

  test('that is larger than the limit is refused by what it says, without waiting for it', async () => {
    const connection = await openRequest({
      path: '/v1/auth/login/options',
      headers: { origin: world.origin },
      body: '{',
      length: limits.authenticationBody.value + 1,
    });
    assert.deepEqual(await answered(connection), { status: 413, code: 'payload_too_large' });
    connection.socket.destroy();
  });
});

describe('bodies that never end', () => {
  /** One more than there may be: one of them is refused, whichever core reads last. Then another one is finished. */
  async function holds(request: Omit<OpenRequest, 'body'>, status: number): Promise<void> {
    const open: RawConnection[] = [];
    for (let count = 0; count <= UNFINISHED; count += 1) open.push(await openRequest({ ...request, body: '{' }));
    await until('one to be refused', () => open.some((connection) => answerOf(connection) !== undefined));
    const refused = open.filter((connection) => answerOf(connection) !== undefined);
    assert.deepEqual(refused.map(answerOf), [{ status: 429, code: 'concurrency_limited' }]);
    await isHealthy();
    const left = open.filter((connection) => !refused.includes(connection));
    assert.deepEqual(left.map(answerOf), Array(UNFINISHED).fill(undefined), 'the others are still read');
    const [first] = left;
    assert.ok(first !== undefined);
    first.socket.write('}');
    await answered(first);
    const next = await openRequest({ ...request, body: '{' });
    next.socket.write('}');
    assert.equal((await answered(next)).status, status, 'there is a place again');
    for (const { socket } of [...open, next]) socket.destroy();
  }

  test('are four for strangers of one address, over all connections; a body that is all there is none of them', async () => {
    const request = { path: '/v1/auth/login/options', headers: { origin: world.origin } };
    await holds(request, 200);
    const open = await Promise.all(Array.from({ length: UNFINISHED }, () => openRequest({ ...request, body: '{' })));
    await isHealthy();
    const answers = await Promise.all(
      Array.from({ length: 3 * UNFINISHED }, () => new TestBrowser(world).fetch(request.path, { body: {} })),
    );
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
    for (const { socket } of open) socket.destroy();
  });

  test('are four for an account, and another account is not touched', async () => {
    const [one, other] = [await newAccount(), await newAccount()];
    await holds({ path: '/v1/runtime/resume', headers: { origin: world.origin, cookie: one.cookie } }, 200);
    assert.equal((await other.fetch('/v1/runtime/resume', { body: {} })).status, 200);
  });

  test('are four for an installation', async () => {
    const account = await newAccount();
    const app = await installTestApp(world, account, 'endless', [{ id: 'notifications.publish', resources: ['news'] }]);
    const headers = { authorization: `Bearer ${app.credential}` };
    await holds({ path: '/v1/services/notifications', headers }, 400);
    const body = { topic: 'news', title: 'Still heard' };
    assert.equal((await app.call('/v1/services/notifications', { body })).status, 201);
  });
});

describe('bodies of search indexes', () => {
  const MiB = 1024 * 1024;
  const filler = Buffer.alloc(MiB, ' ');
  const opened: RawConnection[] = [];
  after(() => opened.forEach(({ socket }) => void socket.destroy()));

  async function newIndexApp(appId: string): Promise<InstalledTestApp> {
    return installTestApp(world, await newAccount(), appId, [{ id: 'search.index', resources: ['self'] }]);
  }

  async function openIndex({ credential }: InstalledTestApp): Promise<RawConnection> {
    const connection = await openRequest({
      method: 'PUT',
      path: INDEX,
      headers: { authorization: `Bearer ${credential}` },
      body: '{"entries":[',
      length: 20 * MiB,
    });
    // The same memory each time: what grows is what core holds.
    for (let sent = 0; sent < 16; sent += 1) connection.socket.write(filler);
    opened.push(connection);
    return connection;
  }

  test('are never held in memory, however many come at the same time', async () => {
    const apps = await Promise.all(['a', 'b', 'c', 'd'].map((name) => newIndexApp(`held-${name}`)));
    const used = () => {
      collectGarbage();
      return process.memoryUsage().arrayBuffers;
    };
    const before = used();
    const open = await Promise.all(apps.flatMap((app) => [openIndex(app), openIndex(app)]));
    await until('all of it to arrive', () => open.every(({ socket }) => socket.writableLength === 0));
    await isHealthy();
    const grown = (used() - before) / MiB;
    assert.ok(grown < 64, `${open.length} bodies of 16 MiB took ${Math.round(grown)} MiB`);
    const [first] = apps;
    assert.ok(first !== undefined);
    assert.deepEqual(await answered(await openIndex(first)), { status: 429, code: 'concurrency_limited' });
    for (const { socket } of open) socket.destroy();
  });

  test('come in as a whole or not at all, entry by entry, and are refused for what is wrong with them', async () => {
    const account = await newAccount();
    const app = await installTestApp(world, account, 'streamed', [{ id: 'search.index', resources: ['self'] }]);
    const entries = Array.from({ length: 3_000 }, (_, index) => ({
      id: `n-${index}`,
      title: `Lantern ${index}`,
      url: `/n/${index}`,
      text: `größe "${index}" \\ \u2028 東京 `.repeat(10),
    }));
    const put = (body: object) => app.call(INDEX, { method: 'PUT', body });
    const written = await put({ entries });
    assert.deepEqual([written.status, written.json], [200, { indexed: 3_000 }], written.text);
    const find = async (q: string) =>
      (await account.browser.take<{ items: { id: string }[] }>(`/v1/search?q=${encodeURIComponent(q)}`)).items.length;
    assert.equal(await find('Lantern 2999'), 1);
    const faulty = [...entries.slice(0, 2_000), { id: 'x', title: '', url: 'nowhere' }];
    const refused = await put({ entries: faulty });
    assert.equal(problemCode(refused), 'invalid_request');
    const paths = (refused.json as { errors: { path: string }[] }).errors.map(({ path }) => path);
    assert.deepEqual(paths, ['entries[2000].title', 'entries[2000].url']);
    const repeated = await put({ entries: [...entries, entries[0]] });
    assert.deepEqual((repeated.json as { errors: unknown }).errors, [
      { path: 'entries', message: 'must have distinct ids' },
    ]);
    assert.equal(await find('Lantern 2999'), 1, 'what was refused has changed nothing');
  });
});

test('of text that expands as much is indexed as of any other, and a query that expands is answered', async () => {
  const account = await newAccount();
  const app = await installTestApp(world, account, 'expanding', [{ id: 'search.index', resources: ['self'] }]);
  // Ten bytes and some twenty-four characters each: of 1,400 half is within what is indexed.
  const words = Array.from({ length: 1_400 }, (_, index) => `${EXPANDS} x${1_000 + index}`).join(' ');
  const entries = Array.from({ length: 40 }, (_, index) => ({
    id: `e-${index}`,
    title: `${EXPANDS.repeat(80)} ${index}`,
    url: '/e',
    text: words,
  }));
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const answer = await app.call(INDEX, { method: 'PUT', body: { entries } });
  assert.equal(answer.status, 200, answer.text);
  const found = async (q: string) => {
    const { status, text, json } = await account.fetch(`/v1/search?limit=100&q=${encodeURIComponent(q)}`);
    assert.equal(status, 200, text);
    return (json as { items: unknown[] }).items.length;
  };
  for (let count = 0; count < 5; count += 1) await found(EXPANDS.repeat(limits.searchQuery.value));
  delay.disable();
  assert.ok(delay.max < 1e9, `everything waited for ${delay.max / 1e6} ms`);
  assert.deepEqual([await found('x1100'), await found('x2300')], [40, 0]);
});

test('searches of one account run one at a time, few wait, and the rest are refused at once', async () => {
  const account = await newAccount();
  const client = new pg.Client({ connectionString: world.databaseUrl });
  await client.connect();
  try {
    await client.query('BEGIN');
    await client.query('LOCK TABLE search_entries IN ACCESS EXCLUSIVE MODE');
    const waiting = limits.searchesWaiting.value;
    const statuses: number[] = [];
    const searches = Array.from({ length: 1 + waiting + 5 }, async (_, index) => {
      const { status } = await account.fetch(`/v1/search?q=word${index}`);
      statuses.push(status);
    });
    await until('the excess to be refused', () => statuses.length >= 5);
    const running = async () => {
      const { rows } = await client.query(
        `SELECT FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%search_entries%'`,
      );
      return rows.length;
    };
    assert.equal(await until('a search to run', running), 1);
    await client.query('ROLLBACK');
    await Promise.all(searches);
    const count = (status: number) => statuses.filter((one) => one === status).length;
    assert.deepEqual([count(200), count(429)], [1 + waiting, 5]);
  } finally {
    await client.end();
  }
});

test('four accounts that publish slowly do not keep a fifth from publishing', async () => {
  const body = await buildTestPackage({
    manifest: testManifest('published-anyway', {}),
    files: { 'frontend/index.html': '<!doctype html><title>t</title>' },
  });
  const slow: RawConnection[] = [];
  for (let count = 0; count < limits.publishes.value / 2; count += 1) {
    const { cookie } = await newAccount();
    for (const name of ['first', 'second']) {
      slow.push(
        await openRequest({
          method: 'PUT',
          path: `/v1/catalog/slow-${name}-${count}/versions/1.0.0`,
          headers: { origin: world.origin, cookie, 'content-type': 'application/gzip' },
          body: Buffer.from('1f8b08', 'hex'),
          length: 1_000_000,
        }),
      );
    }
  }
  await isHealthy();
  const answer = await (await newAccount()).fetch('/v1/catalog/published-anyway/versions/1.0.0', {
    method: 'PUT',
    body,
    headers: { 'content-type': 'application/gzip' },
  });
  assert.equal(answer.status, 201, answer.text);
  const lost = slow.filter((connection) => answerOf(connection) !== undefined);
  const codes = lost.map((connection) => answerOf(connection)?.code);
  // On a busy machine the rest may have been ended for how slow they are.
  assert.ok(codes.length > 0 && codes.every((code) => code === 'concurrency_limited' || code === 'invalid_request'));
  for (const { socket } of slow) socket.destroy();
});

describe('behind a proxy', () => {
  let proxied: Constellation;
  before(async () => {
    proxied = await startConstellation({
      config: { trustedProxies: ['127.0.0.1'] },
      rates: { authentication: { perMinute: 1, burst: 3 } },
    });
  });
  after(() => proxied.close());

  async function statusesFrom(addresses: readonly string[]): Promise<number[]> {
    const statuses: number[] = [];
    for (const address of addresses) {
      const browser = new TestBrowser(proxied);
      const headers = { 'x-forwarded-for': address };
      statuses.push((await browser.fetch('/v1/auth/login/options', { body: {}, headers })).status);
    }
    return statuses;
  }

  test('all addresses of an IPv6 network are one client, and the next network is another', async () => {
    const addresses = ['2001:db8:7:1::1', '2001:db8:7:1::2', '2001:db8:7:1:ffff::3', '2001:db8:7:1:1:2:3:4'];
    assert.deepEqual(await statusesFrom(addresses), [200, 200, 200, 429]);
    assert.deepEqual(await statusesFrom(['2001:db8:7:2::1']), [200]);
  });

  test('an IPv4 address that is written as IPv6 is the same client', async () => {
    const addresses = ['192.0.2.7', '::ffff:192.0.2.7', '::ffff:c000:207', '::FFFF:192.0.2.7'];
    assert.deepEqual(await statusesFrom(addresses), [200, 200, 200, 429]);
  });

  test('whoever tries credentials that do not exist is refused without a look after a while', async () => {
    const statuses: number[] = [];
    for (let count = 0; count < 8; count += 1) {
      const authorization = `Bearer pfc_${String(count).padStart(43, 'x')}`;
      const headers = { host: new URL(proxied.origin).host, authorization, 'x-forwarded-for': '192.0.2.99' };
      statuses.push((await rawRequest({ port: proxied.port, path: '/v1/services/notifications', headers })).status);
    }
    assert.deepEqual(statuses, [401, 401, 401, 401, 429, 429, 429, 429]);
  });
});
