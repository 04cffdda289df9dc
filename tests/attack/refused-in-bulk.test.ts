// Requests that are refused, sent at full speed: each waits longer than the one before, and others wait for none of them.
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { limits } from '@platform/contract';
import { defaultRates } from '@platform/core/config';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type Constellation, startConstellation } from '../support/constellation.ts';
import { type RawRequest, rawRequest } from '../support/raw-http.ts';

const LOOPS = 48;
const SECONDS = 2;
/** Many times fewer than a loop draws that nobody holds back. */
const MOST = 300;

let world: Constellation;
let loud: TestAccount;
let quiet: TestAccount;
before(async () => {
  // The refusals that are free scale with this rate.
  world = await startConstellation({ rates: { session: defaultRates.session } });
  loud = await registerAccount(world, 'loud');
  quiet = await registerAccount(world, 'quiet');
});
after(() => world.close());

const host = () => new URL(world.origin).host;

interface Bulk {
  /** Resolves when there are as many answers as connections, each of which has asked again or is about to. */
  readonly underWay: Promise<void>;
  /** Ends it, after two seconds at the soonest. @returns how many answers there were in all */
  end(): Promise<number>;
}

/** Sends the same again and again on many connections; every answer is of this status. */
function refusals(status: number, request: Pick<RawRequest, 'path' | 'headers'>): Bulk {
  const soonest = performance.now() + 1_000 * SECONDS;
  const underWay = Promise.withResolvers<void>();
  let count = 0;
  let ending = false;
  const loop = async () => {
    while (!ending || performance.now() < soonest) {
      const answer = await rawRequest({ ...request, port: world.port, headers: { host: host(), ...request.headers } });
      assert.equal(answer.status, status, answer.text);
      count += 1;
      if (count === LOOPS) underWay.resolve();
    }
  };
  const loops = Promise.all(Array.from({ length: LOOPS }, loop));
  return {
    underWay: Promise.race([underWay.promise, loops.then(() => undefined)]),
    async end() {
      ending = true;
      await loops;
      return count;
    },
  };
}

/** What a request of somebody else costs meanwhile, in milliseconds: the best of three, since the machine may be busy. */
async function meanwhile(bulk: Bulk, ask: () => Promise<{ status: number }>, status: number) {
  await bulk.underWay;
  let milliseconds = Number.POSITIVE_INFINITY;
  for (let time = 0; time < 3; time += 1) {
    const begun = performance.now();
    assert.equal((await ask()).status, status);
    milliseconds = Math.min(milliseconds, performance.now() - begun);
  }
  return { result: await bulk.end(), milliseconds };
}

test('of a session that is sent twice', async () => {
  const work = refusals(401, { path: '/v1/apps', headers: { cookie: `${loud.cookie}; ${loud.cookie}` } });
  const { result, milliseconds } = await meanwhile(work, () => quiet.fetch('/v1/apps'), 200);
  assert.ok(result < MOST, `${result} refusals`);
  assert.ok(milliseconds < 1_500, `another account waited for ${milliseconds} ms`);
});

test('of live streams beyond the limit, and another account has its refusals at once', async () => {
  const open: http.ClientRequest[] = [];
  for (let count = 0; count < limits.eventStreams.value; count += 1) {
    const headers = { host: host(), cookie: loud.cookie };
    const request = http.get({ host: '127.0.0.1', port: world.port, path: '/v1/events', headers, agent: false });
    await new Promise<void>((resolve) => request.once('response', (answer) => resolve(void answer.resume())));
    open.push(request.on('error', () => undefined));
  }
  const work = refusals(429, { path: '/v1/events', headers: { cookie: loud.cookie } });
  const { result, milliseconds } = await meanwhile(work, () => quiet.fetch('/v1/none'), 404);
  for (const request of open) request.destroy();
  assert.ok(result < MOST, `${result} refusals`);
  assert.ok(milliseconds < 1_500, `another account waited for ${milliseconds} ms`);
});

test('of heads that are too large', async () => {
  const result = await refusals(431, { path: '/', headers: { cookie: 'x'.repeat(20_000) } }).end();
  assert.ok(result < MOST, `${result} refusals`);
});
