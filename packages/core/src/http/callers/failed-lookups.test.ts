// Promises of failed look-ups: what exists is always found, and what does not is not looked for without end.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits, RefusalError } from '@platform/contract';
import { defaultRates } from '../../config/rates.ts';
import { FailedLookups, unknownLookups } from './failed-lookups.ts';

const MOST = limits.unknownLookups.value;

function open() {
  const state = { now: 0, looked: 0 };
  const lookups = new FailedLookups({ most: unknownLookups(defaultRates), clock: () => new Date(state.now) });
  const look = (network: string, found: string | null = null): Promise<string | null> =>
    lookups.look(network, async () => {
      state.looked += 1;
      return found;
    });
  return { state, look, lookups };
}

function isLimited(error: unknown): boolean {
  assert.ok(error instanceof RefusalError);
  assert.deepEqual([error.refusal.code, error.refusal.retryAfter], ['rate_limited', 60]);
  return true;
}

test('after so many unknown ones an address is refused what is unknown, finds what is known, and the minute ends', async () => {
  const { state, look } = open();
  for (let index = 0; index < MOST; index += 1) await look('a');
  await assert.rejects(look('a'), isLimited);
  assert.equal(await look('a', 'known'), 'known');
  assert.equal(await look('b', 'known'), 'known');
  state.now += 60_000;
  assert.equal(await look('a'), null);
});

test('an address with too many unknown ones is looked for one after the other, and others do not wait for it', async () => {
  const { look, lookups } = open();
  for (let index = 0; index < MOST; index += 1) await look('a');
  const { promise, resolve } = Promise.withResolvers<string | null>();
  const slow = lookups.look('a', () => promise);
  const waiting = Array.from({ length: 200 }, () =>
    look('a', 'known').catch((error: RefusalError) => error.refusal.code),
  );
  assert.equal(await look('b', 'known'), 'known');
  resolve('known');
  assert.equal(await slow, 'known');
  const outcomes = await Promise.all(waiting);
  assert.equal(outcomes.filter((outcome) => outcome === 'known').length, 64);
  assert.equal(outcomes.filter((outcome) => outcome === 'concurrency_limited').length, 136);
});

test('what is found does not count', async () => {
  const { look } = open();
  for (let index = 0; index < 2 * MOST; index += 1) await look('a', 'known');
  assert.equal(await look('a'), null);
});

test('many at the same time are no way around', async () => {
  const { state, look } = open();
  const outcomes = await Promise.allSettled(Array.from({ length: 3 * MOST }, () => look('a')));
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, MOST);
  assert.ok(state.looked <= MOST + 65, `${state.looked}`);
});

test('a look-up that fails does not count', async () => {
  const { look, lookups } = open();
  const fails = () => lookups.look('a', () => Promise.reject(new Error('the database is away')));
  for (let index = 0; index < MOST; index += 1) await assert.rejects(fails(), /away/);
  assert.equal(await look('a', 'known'), 'known');
});
