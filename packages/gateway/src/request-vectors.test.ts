// Every request vector, byte for byte over TCP: against the strict listener in front of a recording upstream, and once
// more against a whole Gateway, where without the credential nothing at all may reach core.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { carry, createStrictServer, responseFilter } from '@platform/http';
import { openRaw, type RawConnection } from '../test-support/raw-exchange.ts';
import {
  headerValues,
  type RecordedRequest,
  type RecordingUpstream,
  startRecordingUpstream,
} from '../test-support/recording-upstream.ts';
import { type RunningGateway, startGateway } from './gateway.ts';
import { type CorePool, claimCorePool } from './upstream-pools.ts';

type Expected = 'reject' | 'accept-one' | 'accept-n' | 'accept-then-reject' | 'incomplete' | 'either';

interface VectorFile {
  readonly cases: readonly {
    readonly name: string;
    readonly raw: string;
    readonly rawWithHost?: string;
    readonly expected: Expected;
    readonly expectedServer?: Expected;
    readonly expectedWithHost?: Expected;
    readonly count?: number;
  }[];
}

interface Case {
  readonly name: string;
  readonly raw: Buffer;
  readonly expected: Expected;
  readonly count: number;
}

/** Cases whose expected value the platform's own rules narrow. Each is still run, and must be refused. */
const REFUSED_BY_CONTRACT: Readonly<Record<string, string>> = {
  'connection.md:84': 'not applicable: no Host; contract 1 asks for one Host in HTTP/1.0 as well',
  'content-length.md:264': 'not applicable: no Host; contract 1 asks for one Host in HTTP/1.0 as well',
  'method.md:138': 'not applicable: asterisk form names no resource behind a Gateway',
  'uri.md:55': 'not applicable: absolute form of another host; contract 1 takes it for our own host only',
  'uri.md:78': 'not applicable: absolute form of another host',
  'uri.md:128': 'not applicable: absolute form of another host',
  'uri.md:225': 'not applicable: absolute form of another host, with userinfo',
  'transfer-encoding.md:754':
    'not applicable: the deflate transfer coding is not implemented, RFC 9112 6.1 has it refused',
  'transfer-encoding.md:796':
    'not applicable: the deflate transfer coding is not implemented, RFC 9112 6.1 has it refused',
};

/** `mustHold` of the vectors, as checks on what the upstream received. */
const MUST_HOLD: Readonly<Record<string, (request: RecordedRequest) => void>> = {
  'cl/two-identical': (request) => assert.equal(request.body, 'abc'),
  'cl/leading-zeros-octal-trap': (request) => assert.equal(request.body, '0123456789'),
  'cl/get-with-body': (request) => assert.equal(request.body.length, 49),
  'te/valid-upper': (request) => assert.equal(request.body, 'abc'),
  'te/value-leading-comma': (request) => assert.equal(request.body, 'abc'),
  'te/valid-ows': (request) => assert.equal(request.body, 'abc'),
  'te/underscore-name-cl': (request) => {
    assert.equal(request.body, '3\r\nabc\r\n0\r\n\r\n');
    assert.deepEqual(headerValues(request, 'transfer-encoding'), []);
  },
  'chunk/size-trailing-space': (request) => assert.equal(request.body, 'abc'),
  'chunk/valid-ext-token': (request) => assert.equal(request.body, 'abc'),
  'chunk/valid-upper-hex': (request) => assert.equal(request.body, '0123456789'),
  'chunk/valid-data-looks-like-request': (request) => assert.equal(request.body.length, 49),
  'chunk/trailer-forbidden-cookie': (request) => assert.deepEqual(headerValues(request, 'cookie'), []),
  'field/obs-text-latin1': (request) => assert.deepEqual(headerValues(request, 'x'), ['caf\u00e9']),
  'line/method-lower': (request) => assert.equal(request.method, 'get'),
  'line/double-slash': (request) => assert.equal(request.url, '//evil.example/x'),
  'line/absolute-upper': (request) => assert.equal(request.url, '/x'),
  'hygiene/method-override': (request) => assert.equal(request.method, 'GET'),
};

const UPSTREAM_HOST = 'core.test';
const NEVER_FORWARDED = [
  ...['cookie', 'keep-alive', 'x-real-ip', 'forwarded', 'x-forwarded-for', 'upgrade', 'te', 'trailer'],
  ...['transfer_encoding', 'content_length', 'proxy-authorization'],
];

let upstream: RecordingUpstream;
let pool: CorePool;
let hosts = new Set<string>();
const listener = createStrictServer({
  isOwnHost: (host) => hosts.has(host),
  onRequest: (incoming) =>
    carry(incoming, {
      upstream: {
        name: 'core',
        dispatcher: pool.get(),
        path: incoming.path + incoming.query,
        headers: incoming.head.forwarded,
        filterResponse: responseFilter(() => false),
        headersTimeout: 10_000,
        onFailure: () => undefined,
      },
    }),
  onFault: (error) => assert.fail(String(error)),
});
let gateway: RunningGateway;

before(async () => {
  upstream = await startRecordingUpstream();
  pool = claimCorePool({ coreOrigin: upstream.origin, coreHost: UPSTREAM_HOST });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  gateway = await startGateway({
    installationId: 'inst-test',
    appOrigin: 'http://app.test',
    coreOrigin: upstream.origin,
    coreHost: UPSTREAM_HOST,
    gatewayCredential: 'pgw_test',
    coreServiceCredential: 'pcs_test',
    policy: { revision: 0 },
    hosts: ['gw.example.test'],
    listen: { port: 0, host: '127.0.0.1' },
    inbound: { socketPath: '/nonexistent' },
    onActivity: () => undefined,
    log: () => undefined,
  });
});

after(async () => {
  await gateway.close();
  listener.close();
  listener.closeAllConnections();
  await pool.release();
  await upstream.close();
});

function portOf(address: ReturnType<typeof listener.address>): number {
  assert.ok(address !== null && typeof address === 'object');
  return address.port;
}

/** Rounds through the whole path, after which everything sent earlier has been looked at. */
async function settle(): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    const connection = await openRaw(
      portOf(listener.address()),
      'GET /settled HTTP/1.1\r\nHost: settle.test\r\nConnection: close\r\n\r\n',
    );
    await connection.closed();
    assert.equal(connection.answers()[0]?.status, 200, connection.received());
  }
}

async function send(item: Case, port: number): Promise<{ connection: RawConnection; received: RecordedRequest[] }> {
  upstream.complete.length = 0;
  const named = [...item.raw.toString('latin1').matchAll(/\r\nhost: *([^\r\n]*)/gi)].map((match) => match[1] ?? '');
  // The llhttp cases name their own hosts; a case that is to be refused gets no host but the one that is served.
  const own = item.expected === 'reject' || !item.name.includes('.md:') ? [] : named.slice(0, 1);
  hosts = new Set(['gw.example.test', 'settle.test', ...own]);
  const connection = await openRaw(port, item.raw);
  if (item.expected.startsWith('accept')) await connection.until(() => connection.answers().length >= item.count);
  await settle();
  if (!connection.isClosed()) connection.halfClose();
  await connection.closed();
  return { connection, received: upstream.complete.filter((request) => request.url !== '/settled') };
}

function judge(item: Case, connection: RawConnection, received: readonly RecordedRequest[]): void {
  const answers = connection.answers();
  const note = `${item.expected}; got ${received.length} upstream; ${connection.received().slice(0, 300)}`;
  switch (item.expected) {
    case 'reject':
      assert.equal(received.length, 0, note);
      assert.ok(answers.length <= 1 && answers.every(({ status }) => status >= 400 && status < 500), note);
      break;
    case 'incomplete':
      assert.equal(received.length, 0, note);
      assert.ok(
        answers.every(({ status }) => status >= 400 && status < 500),
        note,
      );
      break;
    case 'accept-one':
    case 'accept-n':
      assert.equal(received.length, item.count, note);
      assert.deepEqual(
        answers.slice(0, item.count).map(({ status }) => status),
        Array(item.count).fill(200),
        note,
      );
      break;
    case 'accept-then-reject':
      assert.equal(received.length, item.count, note);
      assert.deepEqual(
        answers.slice(0, item.count).map(({ status }) => status),
        Array(item.count).fill(200),
        note,
      );
      assert.ok(
        answers.slice(item.count).every(({ status }) => status >= 400),
        note,
      );
      break;
    case 'either':
      assert.ok(received.length <= 2, note);
      assert.ok(
        answers.every(({ status }) => status < 500),
        note,
      );
      break;
  }
  for (const request of received) {
    assert.deepEqual(headerValues(request, 'host'), [UPSTREAM_HOST], note);
    for (const name of NEVER_FORWARDED) assert.deepEqual(headerValues(request, name), [], `${name} in ${note}`);
    assert.ok(headerValues(request, 'content-length').length + headerValues(request, 'transfer-encoding').length <= 1);
    MUST_HOLD[item.name]?.(request);
  }
}

async function readCases(file: string): Promise<Case[]> {
  const url = new URL(`../test-vectors/${file}`, import.meta.url);
  const vectors: VectorFile = JSON.parse(await readFile(url, 'utf8'));
  return vectors.cases.flatMap((item) => {
    const count = item.count ?? 1;
    const name = item.name.replace(/^request\//, '');
    const plain = { name, raw: Buffer.from(item.raw, 'base64'), count };
    const found: Case[] = [{ ...plain, expected: item.expectedServer ?? item.expected }];
    if (item.expectedWithHost !== undefined) {
      const raw = item.rawWithHost === undefined ? addHosts(plain.raw) : Buffer.from(item.rawWithHost, 'base64');
      found.push({ name: `${name} (with Host)`, raw, count, expected: item.expectedWithHost });
    }
    return found;
  });
}

/** Adds a Host line after each request line of a pipelined case. */
function addHosts(raw: Buffer): Buffer {
  const text = raw.toString('latin1').replaceAll(/( HTTP\/1\.1\r\n)/g, '$1Host: gw.example.test\r\n');
  return Buffer.from(text, 'latin1');
}

const cases = [...(await readCases('http-request-cases.json')), ...(await readCases('http-request-llhttp.json'))];

test('every exception to a vector names an existing case', () => {
  for (const key of Object.keys(REFUSED_BY_CONTRACT))
    assert.ok(
      cases.some(({ name }) => name.startsWith(`${key} `)),
      key,
    );
  for (const key of Object.keys(MUST_HOLD))
    assert.ok(
      cases.some(({ name }) => name === key),
      key,
    );
});

for (const vector of cases) {
  const reason = REFUSED_BY_CONTRACT[vector.name.split(' ', 1)[0] ?? ''];
  const item: Case = reason === undefined ? vector : { ...vector, expected: 'reject' };
  test(`a request is handled as its vector says: ${item.name} is ${reason ?? item.expected}`, async () => {
    const { connection, received } = await send(item, portOf(listener.address()));
    judge(item, connection, received);
  });
}

test('no vector reaches core through a Gateway without the credential, and none makes it fail', async () => {
  for (const item of cases) {
    const before = upstream.begun();
    const connection = await openRaw(portOf(gateway.address()), item.raw);
    connection.halfClose();
    await connection.closed();
    assert.equal(upstream.begun(), before, item.name);
    for (const answer of connection.answers()) assert.ok(answer.status >= 400 && answer.status < 500, item.name);
  }
});
