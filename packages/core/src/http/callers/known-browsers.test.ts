// A client that spends what an address has for signing in keeps no one behind it from signing in where they did before.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { registerAccount, TestBrowser } from '../../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../../tests/support/constellation.ts';
import { problemCode } from '../../../../../tests/support/raw-http.ts';
import { KnownBrowsers } from './known-browsers.ts';

let world: Constellation;
let mark: string;
const START = Date.parse('2026-01-01T00:00:00Z');

before(async () => {
  world = await startConstellation({
    clock: () => new Date(START),
    rates: { authentication: { perMinute: 6, burst: 6 } },
  });
  await registerAccount(world, 'regular');
  const { context } = world.core;
  const [pair = ''] = new KnownBrowsers(context).cookie({ headers: {} } as never).split(';', 1);
  mark = pair;
});
after(() => world.close());

const begin = async (cookie: string) => {
  const browser = new TestBrowser(world);
  const headers = cookie === '' ? {} : { cookie };
  const answer = await browser.fetch('/v1/auth/login/options', { method: 'POST', body: {}, headers });
  return answer.status === 200 ? 'begun' : problemCode(answer);
};

test('a browser is marked when somebody signs in, once and for long, and the mark is no secret of theirs', async () => {
  const browsers = new KnownBrowsers(world.core.context);
  const first = browsers.cookie({ headers: {} } as never);
  assert.match(
    first,
    /^platform_session-browser=[\w-]{22}\.[\w-]{43}; Path=\/; Max-Age=34560000; HttpOnly; SameSite=Lax$/,
  );
  const [pair = ''] = first.split(';', 1);
  assert.equal(browsers.cookie({ headers: { cookie: `a=b; ${pair}` } } as never), first, 'it keeps its mark');
  const https = new KnownBrowsers({
    ...world.core.context,
    config: { ...world.core.context.config, origin: 'https://cloud.example' },
  });
  assert.match(https.cookie({ headers: {} } as never), /^__Host-platform_session-browser=.*; Secure$/);
});

test('a neighbour who spends the budget of their address refuses strangers, and no browser that signed in before', async () => {
  while ((await begin('')) === 'begun');
  assert.equal(await begin(''), 'rate_limited');
  const forged = [
    // Not at the end, where base64url has two bits that say nothing.
    mark.replace(/\../, (first) => (first === '.A' ? '.B' : '.A')),
    mark.replace(/=./, (first) => (first === '=A' ? '=B' : '=A')),
    `${mark}; ${mark}`,
    mark.replace('-browser', ''),
    'platform_session-browser=',
    'platform_session-browser=.',
  ];
  for (const cookie of forged) assert.equal(await begin(cookie), 'rate_limited', cookie);
  assert.equal(await begin(mark), 'begun');
});

test('a browser of its own has no more than an address has', async () => {
  let begun = 0;
  while ((await begin(mark)) === 'begun') begun += 1;
  assert.ok(begun <= 6, `${begun}`);
});
