// Rates hold for each caller alone, refill with time, and say how long to wait.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { RefusalError } from '@platform/contract';
import { registerAccount, TestBrowser } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { problemCode } from '../../../../tests/support/raw-http.ts';
import { defaultRates, rateLimiter } from './rate-limit.ts';

let now = Date.parse('2026-01-01T00:00:00Z');
const clock = () => new Date(now);

test('a caller has its burst, then its rate, and others are not touched', () => {
  const take = rateLimiter({ ...defaultRates, notification: { perMinute: 60, burst: 3 } }, clock);
  for (let index = 0; index < 3; index += 1) take('notification', 'inst-a');
  assert.throws(
    () => take('notification', 'inst-a'),
    (error: unknown) =>
      error instanceof RefusalError && error.refusal.code === 'rate_limited' && error.refusal.retryAfter === 1,
  );
  take('notification', 'inst-b');
  take('service', 'inst-a');
  now += 1_000;
  take('notification', 'inst-a');
  assert.throws(() => take('notification', 'inst-a'), RefusalError);
  now += 3_600_000;
  for (let index = 0; index < 3; index += 1) take('notification', 'inst-a');
  assert.throws(() => take('notification', 'inst-a'), RefusalError, 'tokens never pile up beyond the burst');
});

let constellation: Constellation;
before(async () => {
  constellation = await startConstellation({ clock, rates: { authentication: { perMinute: 6, burst: 6 } } });
});
after(() => constellation.close());

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
