// Rates hold for each caller alone and for all replicas together, refill with time, and say how long to wait.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { RefusalError, type RouteSpec, routes } from '@platform/contract';
import { registerAccount, TestBrowser } from '../../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../../tests/support/constellation.ts';
import { startCoreProcess } from '../../../../../tests/support/core-process.ts';
import { installTestApp } from '../../../../../tests/support/installed-app.ts';
import { problemCode, rawRequest } from '../../../../../tests/support/raw-http.ts';
import { earlier } from '../../clock/clock-guard.ts';
import { defaultRates } from '../../config/rates.ts';
import { removeIdleBuckets, takeFromBucket } from './rate-buckets.ts';
import { rateLimiter } from './rate-limit.ts';

const START = Date.parse('2026-01-01T00:00:00Z');
let now = START;
const clock = () => new Date(now);

let constellation: Constellation;
before(async () => {
  constellation = await startConstellation({ clock, rates: { authentication: { perMinute: 6, burst: 6 } } });
});
after(() => constellation.close());

/** A limiter as one replica has it, and how often it asked the database. */
function replica(perMinute: number, burst: number, ownClock: () => Date = clock) {
  const { pool } = constellation.core.context;
  let queries = 0;
  const take = rateLimiter({
    rates: { ...defaultRates, notification: { perMinute, burst } },
    clock: ownClock,
    takeFromBucket: (request) => {
      queries += 1;
      return takeFromBucket(pool, request);
    },
  });
  return { take: async (subject: string) => take('notification', subject), queries: () => queries, limiter: take };
}

/** How many of `tries` pass, taken in turn from the replicas. */
async function passing(replicas: readonly ReturnType<typeof replica>[], subject: string, tries: number) {
  let passed = 0;
  for (let index = 0; index < tries; index += 1) {
    const one = replicas[index % replicas.length];
    await one?.take(subject).then(
      () => {
        passed += 1;
      },
      (error: unknown) => assert.ok(error instanceof RefusalError && error.refusal.code === 'rate_limited', `${error}`),
    );
  }
  return passed;
}

test('a caller has its burst, then its rate, and others are not touched', async () => {
  const { take, limiter } = replica(60, 3);
  for (let index = 0; index < 3; index += 1) await take('a');
  await assert.rejects(
    take('a'),
    (error: unknown) =>
      error instanceof RefusalError && error.refusal.code === 'rate_limited' && error.refusal.retryAfter === 1,
  );
  await take('b');
  await limiter('service', 'a');
  now += 1_000;
  await take('a');
  await assert.rejects(take('a'), RefusalError);
  now += 3_600_000;
  for (let index = 0; index < 3; index += 1) await take('a');
  await assert.rejects(take('a'), RefusalError, 'tokens never pile up beyond the burst');
});

test('replicas share one burst and one rate', async () => {
  const both = [replica(60, 120), replica(60, 120)];
  assert.equal(await passing(both, 'shared', 400), 120);
  now += 10_000;
  assert.equal(await passing(both, 'shared', 100), 10);
});

test('of many at once exactly the burst passes', async () => {
  const both = [replica(60, 120), replica(60, 120)];
  const outcomes = await Promise.allSettled(Array.from({ length: 300 }, (_, index) => both[index % 2]?.take('rush')));
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 120);
});

test('what a replica took and did not use goes back: a steady caller within its rate is never refused', async () => {
  const both = [replica(60, 120), replica(60, 120)];
  for (let index = 0; index < 400; index += 1) {
    await both[index % 2]?.take('steady');
    now += 1_000;
  }
});

test('most requests cost no query: neither those that pass nor those that are refused', async () => {
  const one = replica(6_000, 6_000);
  assert.equal(await passing([one], 'busy', 6_000), 6_000);
  assert.equal(one.queries(), 20);
  await assert.rejects(one.take('busy'), RefusalError);
  const before = one.queries();
  await passing([one], 'busy', 1_000);
  assert.equal(one.queries(), before);
  assert.equal(one.limiter('none', 'busy'), undefined);
});

test('a replica whose clock is wrong, or is set back, gives no caller more and locks none out', async () => {
  let skew = -600_000;
  const late = replica(60, 10, () => new Date(now + skew));
  const right = replica(60, 10);
  assert.equal(await passing([right, late], 'skewed', 40), 10);
  now += 5_000;
  assert.equal(await passing([right], 'skewed', 20), 5);
  skew = 3_600_000;
  assert.equal(await passing([late], 'skewed', 20), 10, 'an hour ahead fills the bucket, once');
  skew = 0;
  now += 3_600_000 + 1_000;
  assert.equal(await passing([late], 'skewed', 20), 1);
});

test('an unused bucket is removed, one in use stays', async () => {
  const { pool, time } = constellation.core.context;
  const one = replica(60, 120);
  await one.take('idle');
  now += 3_600_000;
  await one.take('awake');
  await removeIdleBuckets(pool, earlier(time.proven(), time.proven().getTime() - now + 1), 1_000);
  const { rows } = await pool.query<{ subject: string }>(
    "SELECT subject FROM rate_buckets WHERE subject IN ('idle', 'awake')",
  );
  assert.deepEqual(rows, [{ subject: 'awake' }]);
});

test('too many sign-ins from one address answer 429 with the seconds to wait, and sessions go on', async () => {
  const account = await registerAccount(constellation, 'patient');
  const browser = new TestBrowser(constellation);
  const answers = [];
  for (let index = 0; index < 6; index += 1) answers.push(await browser.fetch('/v1/auth/login/options', { body: {} }));
  const refused = answers.filter(({ status }) => status === 429);
  assert.equal(refused.length, 2, 'registering took two of the six');
  for (const answer of refused) {
    assert.equal(problemCode(answer), 'rate_limited');
    assert.equal(answer.headers['retry-after'], '10');
  }
  assert.equal((await account.fetch('/v1/auth/session')).status, 200);
  now += 10_000;
  assert.equal((await browser.fetch('/v1/auth/login/options', { body: {} })).status, 200);
});

test('two processes of core let an installation publish its burst once, and store nothing beyond it', async (context) => {
  // Real time passes in the processes: at a token an hour nothing comes back while the test runs.
  const rates = { notification: { perMinute: 1 / 60, burst: 60 } };
  const world = await startConstellation();
  context.after(() => world.close());
  const account = await registerAccount(world, 'divided');
  const app = await installTestApp(world, account, 'divided', [{ id: 'notifications.publish', resources: ['*'] }]);
  const processes = await Promise.all([startCoreProcess(world, { rates }), startCoreProcess(world, { rates })]);
  try {
    const answers = await Promise.all(
      Array.from({ length: 150 }, (_, index) => {
        const { port, origin } = processes[index % 2] ?? world;
        return rawRequest({
          port,
          method: 'POST',
          path: '/v1/services/notifications',
          headers: {
            host: new URL(origin).host,
            authorization: `Bearer ${app.credential}`,
            'content-type': 'application/json',
          },
          body: JSON.stringify({ topic: 'news', title: `n${index}` }),
        });
      }),
    );
    assert.equal(answers.filter(({ status }) => status === 201).length, 60);
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      assert.deepEqual([answer.status, problemCode(answer)], [429, 'rate_limited']);
      assert.ok(Number(answer.headers['retry-after']) > 0);
    }
    const stored = await world.core.context.pool.query('SELECT FROM notifications WHERE app_id = $1', ['divided']);
    assert.equal(stored.rowCount, 60);
  } finally {
    await Promise.all(processes.map((one) => one.stop()));
  }
});

test('adding a passkey, exchanging a capability and joining are kinds of their own', async () => {
  const rates = Object.fromEntries(
    ['authentication', 'passkey', 'exchange', 'join'].map((kind) => [kind, { perMinute: 2, burst: 2 }]),
  );
  const other = await startConstellation({ clock, rates });
  try {
    const account = await registerAccount(other, 'kinds');
    const calls: readonly (readonly [string, object])[] = [
      ['/v1/auth/login/options', {}],
      ['/v1/auth/passkeys/options', {}],
      ['/v1/frontend/exchange', { capability: `pfc_${'A'.repeat(43)}` }],
      ['/v1/node/challenge', {}],
    ];
    const limited = async ([path, body]: (typeof calls)[number]) => {
      const headers = path.startsWith('/v1/frontend')
        ? { origin: `http://notes--${'x'.repeat(21)}.apps.platform.localhost:${new URL(other.origin).port}` }
        : undefined;
      return (await account.fetch(path, { body, ...(headers && { headers }) })).status === 429;
    };
    // Registration spent what this address has for authentication, and nothing else.
    assert.deepEqual(await Promise.all(calls.map(limited)), [true, false, false, false]);
    for (const call of calls.slice(1))
      assert.deepEqual([await limited(call), await limited(call)], [false, true], call[0]);
  } finally {
    await other.close();
  }
});

test('a page elsewhere spends nothing of what its visitor may ask for, whichever route it names', async () => {
  now += 600_000;
  const visitor = new TestBrowser(constellation);
  const reachable = (Object.values(routes) as RouteSpec[]).filter(
    ({ method, origin, callers }) => method === 'GET' && origin !== 'app' && callers.includes('anonymous'),
  );
  assert.ok(
    reachable.some(({ rate }) => rate === 'authentication'),
    'there is something to spend',
  );
  // As a picture of the page asks for it: no Origin, and the site that the browser states.
  for (const site of ['cross-site', 'same-site', 'whatever-comes-next']) {
    for (const { path } of [...reachable, ...reachable, ...reachable]) {
      const headers = {
        origin: undefined,
        'sec-fetch-site': site,
        'sec-fetch-mode': 'no-cors',
        'sec-fetch-dest': 'image',
      };
      const answer = await visitor.fetch(path.replaceAll(/:\w+/g, 'x'), { headers });
      assert.deepEqual([answer.status, problemCode(answer)], [403, 'origin_not_allowed'], path);
    }
  }
  for (let index = 0; index < 6; index += 1)
    assert.equal((await visitor.fetch('/v1/auth/login/options', { body: {} })).status, 200);
});
