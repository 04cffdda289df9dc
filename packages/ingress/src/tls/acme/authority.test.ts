// What an authority may answer besides certificates: when it wants to be asked again, in whatever form, and things that are no
// ACME. The authority is an HTTPS server of the test.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { before, type TestContext, test } from 'node:test';
import { newAuthority, type TestAuthority } from '../../../test-support/certificates.ts';
import { AcmeError, type CertificateAuthority, openAuthority } from './authority.ts';

let signing: TestAuthority;
before(async () => {
  signing = await newAuthority();
});

const NAME = 'a.example.org';
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const account = { key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), url: null };
const problem = (kind: string, detail: string) =>
  JSON.stringify({ type: `urn:ietf:params:acme:error:${kind}`, detail });

/** An answer of the authority: its status, fields and body. */
type Answering = (res: ServerResponse, path: string) => void;

interface World {
  readonly authority: CertificateAuthority;
  /** Paths that were asked for, beside those of nonces. */
  readonly asked: string[];
  readonly origin: string;
}

/** @param answer to everything that is asked for but the directory and nonces */
async function opened(
  t: TestContext,
  answer: Answering,
  saveAccount = (): Promise<void> => Promise.resolve(),
): Promise<World> {
  const { certificate: cert, key } = await signing.issue(['localhost']);
  const asked: string[] = [];
  let origin = '';
  const server = createServer({ cert, key }, (req, res) => {
    const { pathname } = new URL(req.url ?? '', origin);
    res.setHeader('replay-nonce', 'a-nonce');
    res.setHeader('content-type', 'application/json');
    if (pathname === '/nonce') return void res.end();
    asked.push(pathname);
    if (pathname === '/dir') {
      const places = { newNonce: '/nonce', newAccount: '/account', newOrder: '/order' };
      return void res.end(JSON.stringify(Object.fromEntries(Object.entries(places).map(([k, v]) => [k, origin + v]))));
    }
    req.resume().on('end', () => answer(res, pathname));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  origin = `https://localhost:${(server.address() as AddressInfo).port}`;
  const authority = await openAuthority({
    ...{ directory: `${origin}/dir`, email: '', ca: signing.ca, account, saveAccount },
    answer: { type: 'http-01', add: async () => undefined, remove: async () => undefined },
    onLeftBehind: (name, reason) => assert.fail(`${name}: ${reason}`),
  });
  return { authority, asked, origin };
}

async function failureOf({ authority }: Pick<World, 'authority'>): Promise<AcmeError> {
  const error: unknown = await authority.order(NAME, new AbortController().signal).catch((thrown: unknown) => thrown);
  assert.ok(error instanceof AcmeError, String(error));
  return error;
}

const DAY = 86_400;
const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1_000).toUTCString();
/** Values of the field, with the seconds that they should be taken for, within a minute. */
const fields: Readonly<Record<string, readonly [() => string, number | null]>> = {
  seconds: [() => '120', 120],
  'no seconds': [() => '0', 0],
  'a date': [() => inSeconds(7_200), 7_200],
  'a date in the past': [() => inSeconds(-7_200), 0],
  'a year in seconds': [() => String(365 * DAY), DAY],
  'more seconds than there are': [() => '9'.repeat(400), DAY],
  'a date in the far future': [() => 'Fri, 31 Dec 9999 23:59:59 GMT', DAY],
  'a day that is none': [() => 'Mon, 99 Zzz 2026 00:00:00 GMT', null],
  'a negative number': [() => '-5', null],
  'a fraction': [() => '1.5', null],
  words: [() => 'soon', null],
};
for (const [what, [field, expected]] of Object.entries(fields)) {
  test(`Retry-After with ${what} is taken for ${expected ?? 'nothing'}`, async (t) => {
    const world = await opened(t, (res) => {
      res.writeHead(429, { 'retry-after': field(), 'content-type': 'application/problem+json' });
      res.end(problem('rateLimited', 'too many of them'));
    });
    const { isRateLimit, retryAfter, message } = await failureOf(world);
    assert.deepEqual([isRateLimit, message], [true, 'the authority refuses: too many of them']);
    if (expected === null || retryAfter === null) assert.equal(retryAfter, expected);
    else assert.ok(retryAfter <= expected && retryAfter > expected - 60, String(retryAfter));
    assert.deepEqual(world.asked, ['/dir', '/account'], 'asked once, whatever it says');
  });
}

test('while an order is decided it is asked for as often as the authority says, within bounds', async (t) => {
  let looks = 0;
  const times: number[] = [];
  const world = await opened(t, (res, path) => {
    if (path === '/account') return void res.writeHead(201, { location: `${world.origin}/account/1` }).end('{}');
    if (path === '/order')
      return void res
        .writeHead(201, { location: `${world.origin}/order/1` })
        .end(JSON.stringify({ status: 'pending', authorizations: [], finalize: `${world.origin}/finalize` }));
    if (path === '/finalize') return void res.end('{}');
    times.push(performance.now());
    looks += 1;
    // At once, in the past, and not before tomorrow: the last would hold up the order for good.
    const after = ['0', inSeconds(-DAY), String(DAY)][looks - 1];
    if (after === undefined) return void res.end(JSON.stringify({ status: 'invalid' }));
    res.writeHead(200, { 'retry-after': after }).end(JSON.stringify({ status: 'processing' }));
  });
  assert.equal((await failureOf(world)).message, 'the authority did not sign the certificate');
  assert.equal(looks, 4);
  const [first = 0, second = 0, third = 0] = times;
  for (const pause of [second - first, third - second]) assert.ok(pause >= 240, `not after ${pause} ms`);
});

test('what does not answer as an authority is named for what it is', async (t) => {
  const none = await openAuthority({
    ...{ directory: 'https://localhost:1/dir', email: '', ca: null, account, saveAccount: async () => undefined },
    answer: { type: 'http-01', add: async () => undefined, remove: async () => undefined },
    onLeftBehind: (name, reason) => assert.fail(`${name}: ${reason}`),
  });
  const closed = await failureOf({ authority: none });
  assert.deepEqual([closed.message, closed.step], ['the authority cannot be reached: ECONNREFUSED', 'unreachable']);

  const page = await opened(t, (res) => void res.end('<!doctype html>'));
  const other = await failureOf(page);
  assert.match(other.message, /^the answer of the authority is not understood: /);
  assert.equal(other.step, 'unreachable');

  const distrusted = await openAuthority({
    ...{ directory: `${page.origin}/dir`, email: '', ca: null, account, saveAccount: async () => undefined },
    answer: { type: 'http-01', add: async () => undefined, remove: async () => undefined },
    onLeftBehind: (name, reason) => assert.fail(`${name}: ${reason}`),
  });
  assert.match((await failureOf({ authority: distrusted })).message, /cannot be reached: [A-Z_]*(?:CERT|SIGN)[A-Z_]*$/);
});

test('an account that cannot be kept is no fault of the authority', async (t) => {
  const full = async () => {
    throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
  };
  const world = await opened(
    t,
    (res) => void res.writeHead(201, { location: `${world.origin}/account/1` }).end('{}'),
    full,
  );
  const { message, step } = await failureOf(world);
  assert.deepEqual([message, step], ['the account with the authority cannot be kept: ENOSPC', 'unwritable']);
});
