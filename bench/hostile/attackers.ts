// A process of its own that attacks a platform as two accounts and one stranger would, until its standard input ends;
// then it prints what each attack was answered, as one line of JSON. Arguments: port, origin, and the cookies of two accounts.
import { randomBytes } from 'node:crypto';
import http from 'node:http';
import { connect } from 'node:net';
import { buildTestPackage, testManifest } from '../../tests/support/packages.ts';

const [port = '', origin = '', first = '', second = ''] = process.argv.slice(2);
const host = new URL(origin).host;
/** The stranger comes from an address of its own. */
const STRANGER = { localAddress: '127.0.0.2' };

const answers: Record<string, Record<string, number>> = {};
let isOver = false;
process.stdin.resume().on('end', () => {
  isOver = true;
  process.stdout.write(`${JSON.stringify(answers)}\n`);
  process.exit(0);
});

function count(attack: string, status: number | string): void {
  const former = answers[attack] ?? {};
  answers[attack] = { ...former, [status]: (former[status] ?? 0) + 1 };
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** `times` loops of one attack. One that gets no answer at all waits a little, so as not to measure this process alone. */
function attack(name: string, times: number, act: () => Promise<number | string>): void {
  for (let one = 0; one < times; one += 1)
    void (async () => {
      while (!isOver) {
        const status = await act();
        count(name, status);
        if (typeof status === 'string') await pause(100);
      }
    })();
}

interface Attempt extends http.RequestOptions {
  readonly body?: string | Buffer;
  /** Writes this often instead of ending the request: bytes, every so many milliseconds. */
  readonly drip?: readonly [chunk: string, every: number];
}

function send({ body, drip, headers, ...options }: Attempt): Promise<number | string> {
  const { promise, resolve } = Promise.withResolvers<number | string>();
  const all = { host, origin, 'content-type': 'application/json', ...headers };
  const request = http.request({ host: '127.0.0.1', port, agent: false, headers: all, ...options });
  const timer = drip && setInterval(() => request.write(drip[0]), drip[1]);
  const ended = (how: number | string) => {
    clearInterval(timer);
    request.destroy();
    resolve(how);
  };
  request.on('response', (answer) => {
    answer.on('error', () => ended('cut')).on('end', () => ended(answer.statusCode ?? 0));
    answer.resume();
  });
  request.on('error', () => ended('cut')).on('close', () => ended('cut'));
  if (drip === undefined) request.end(body);
  else request.flushHeaders();
  return promise;
}

/** Bytes on a bare connection that is then left open; resolves when the platform ends it. */
function holdOpen(bytes: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = connect({ host: '127.0.0.1', port: Number(port), ...STRANGER }, () => socket.write(bytes));
  socket.on('error', () => undefined).on('close', () => resolve('ended'));
  socket.resume();
  return promise;
}

const anonymous = (path: string, more: Attempt) => send({ method: 'POST', path, ...STRANGER, ...more });
const expanding = '\ufdfa'.repeat(80_000);
const manyWords = JSON.stringify({ challengeId: 'x', credential: { note: 'abandon ability able '.repeat(12_000) } });
const nested = '['.repeat(120_000);
const cookies = Array.from({ length: 40 }, (_, at) => `c${at}=${'x'.repeat(3_000)}`).join('; ');

attack('texts that expand, in a name', 2, () =>
  anonymous('/v1/auth/register/options', { body: JSON.stringify({ name: expanding }) }),
);
attack('252 KB of words of recovery phrases', 4, () => anonymous('/v1/auth/register/verify', { body: manyWords }));
attack('deep nesting', 2, () => anonymous('/v1/auth/login/verify', { body: nested }));
attack('sign-ins begun', 4, () => anonymous('/v1/auth/login/options', { body: '{}' }));
attack('unfinished bodies of a stranger', 64, () =>
  anonymous('/v1/auth/login/verify', { headers: { 'content-length': '30000' }, drip: [' ', 1_000] }),
);
attack('unfinished heads', 128, () => holdOpen(`GET / HTTP/1.1\r\nHost: ${host}\r\nX: `));
attack('connections that say nothing', 128, () => holdOpen(''));
attack('many requests on one connection', 8, () =>
  holdOpen(`GET /v1/health HTTP/1.1\r\nHost: ${host}\r\n\r\n`.repeat(500)),
);
attack('cookies of 120 KB', 4, () => send({ path: '/', headers: { cookie: cookies }, ...STRANGER }));
attack('the page of the shell', 4, () => send({ path: '/', ...STRANGER }));

const accounts = { one: first, two: second };
for (const [name, cookie] of Object.entries(accounts)) {
  const signedIn = (attempt: Attempt) => send({ ...attempt, headers: { cookie, ...attempt.headers } });
  const appId = `hostile-${name}`;
  const upload = { method: 'PUT', path: `/v1/catalog/${appId}/versions/1.0.0` };
  const packed = { 'content-type': 'application/gzip' };
  attack('uploads that hardly move', 8, () =>
    signedIn({ ...upload, headers: { ...packed, 'content-length': '500000000' }, drip: ['x', 1_000] }),
  );
  attack('packages of noise', 2, async () => {
    const version = `0.0.${Date.now()}`;
    const manifest = testManifest(appId, { version });
    const body = await buildTestPackage({ manifest, files: { 'frontend/index.html': randomBytes(4 * 1024 * 1024) } });
    return signedIn({ method: 'PUT', path: `/v1/catalog/${appId}/versions/${version}`, headers: packed, body });
  });
  attack('searches', 16, () =>
    signedIn({ path: `/v1/search?q=${encodeURIComponent('w o r d e n t r y '.repeat(10))}` }),
  );
  attack('lists', 8, () => signedIn({ path: '/v1/apps' }));
  attack('unfinished bodies of an account', 16, () =>
    signedIn({ method: 'POST', path: '/v1/apps', headers: { 'content-length': '30000' }, drip: [' ', 1_000] }),
  );
  attack('event streams', 64, () => signedIn({ path: '/v1/events' }));
  attack('sessions of others', 4, () => send({ path: '/v1/apps', headers: { cookie: `${cookie}; ${cookie}` } }));
}
