// A backend in the sandbox that speaks to its Gateway byte by byte: whatever it sends, what arrives outside is a request of
// its own, with the key that belongs there, and neither another slot's nor another account's.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import type { AppIntelligence, SecretBinding } from '@platform/contract';
import { type FakeStore, REGION, startFakeStore } from '../../packages/gateway/test-support/fake-store.ts';
import { type AskBackend, openBackend } from '../support/backend.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { emptyPlace, type PlatformPlace, type PlatformProcess, startPlatform } from '../support/platform-process.ts';
import { publishTestApp } from '../support/publish.ts';
import { type ArrivedRequest, startTlsUpstream, type TlsUpstream } from '../support/tls-upstream.ts';
import { until } from '../support/wait.ts';

const BUCKET = 'objects-of-apps';
const CHAT = '{"model":"small","max_tokens":9,"messages":[]}';
const STRANGER = 'pgw_of-another-installation-0123456789abcdefghij';
const SLOTS = ['one', 'two'] as const;

interface Part {
  readonly text: string;
  readonly repeat?: number;
  /** Written once this has come back. */
  readonly after?: string;
}

interface Exchange {
  readonly to?: 'PLATFORM_API_URL' | 'PLATFORM_S3_ENDPOINT';
  readonly parts: readonly Part[];
  readonly end?: boolean;
}

interface Told {
  readonly how: 'closed' | 'open';
  readonly received: string;
}

interface Tenant {
  readonly account: TestAccount;
  readonly appId: string;
  readonly ask: AskBackend;
  /** Has the backend make all of these at the same time. */
  send(...exchanges: Exchange[]): Promise<Told[]>;
}

let folder: string;
let upstream: TlsUpstream;
let store: FakeStore;
let place: PlatformPlace;
let platform: PlatformProcess;
let burglar: Tenant;
let neighbour: Tenant;

const keyOf = (tenant: string, of: string) => `canary-${tenant}-${of}`;

async function settle(tenant: string): Promise<Tenant> {
  const account = await registerAccount(place, tenant);
  const appId = `app-of-${tenant}`;
  const put = async (at: string, body: object) => {
    const answer = await account.fetch(at, { method: 'PUT', body });
    assert.ok(answer.status < 300, answer.text);
  };
  const slot = (name: string) => ({ name, origin: upstream.origin, pathPrefix: `/${name}`, methods: ['GET', 'POST'] });
  const manifest = {
    workload: { runtime: 'node', entry: 'main.mjs' },
    permissions: [
      { id: 'intelligence.use', resources: ['openai:small'] },
      { id: 'secrets.use', resources: [...SLOTS] },
      { id: 'network.connect', resources: [upstream.origin] },
      { id: 'object-storage.raw', resources: ['self'] },
    ],
    secretSlots: SLOTS.map(slot),
  };
  const main = await readFile(new URL('raw-bytes-workload.mjs', import.meta.url));
  await publishTestApp(account, appId, manifest, {
    'frontend/index.html': '<!doctype html>',
    'workload/main.mjs': main,
  });
  await account.browser.take('/v1/apps', { body: { appId } });
  await put('/v1/account/intelligence/openai/key', { key: keyOf(tenant, 'model') });
  for (const name of SLOTS) await put(`/v1/account/secrets/${name}`, { value: keyOf(tenant, name) });
  for (const name of SLOTS) await bind(account, appId, name, name);
  const ask = await openBackend(place, account, appId);
  await until(`${appId} to answer`, async () => (await ask('/')).status === 200, 60_000);
  return {
    ...{ account, appId, ask },
    async send(...exchanges) {
      const all = exchanges.map((exchange) => ({ to: 'PLATFORM_API_URL', ...exchange }));
      const answer = await ask(`/?exchanges=${encodeURIComponent(JSON.stringify(all))}`);
      assert.equal(answer.status, 200, answer.text);
      assert.doesNotMatch(answer.text, /canary-/);
      return JSON.parse(answer.text) as Told[];
    },
  };
}

async function bind(account: TestAccount, appId: string, slot: string, secret: string): Promise<void> {
  const bindings = `/v1/apps/${appId}/secret-bindings`;
  const { items } = await account.browser.take<{ items: SecretBinding[] }>(bindings);
  const declarationHash = items.find((item) => item.slot === slot)?.declarationHash;
  const answer = await account.fetch(`${bindings}/${slot}`, { method: 'PUT', body: { secret, declarationHash } });
  assert.equal(answer.status, 200, answer.text);
}

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'raw-bytes-'));
  upstream = await startTlsUpstream();
  store = await startFakeStore(BUCKET);
  const providers = { providers: [{ id: 'openai', dialect: 'openai', baseUrl: `${upstream.origin}/v1` }] };
  await writeFile(path.join(folder, 'providers.json'), JSON.stringify({ ...providers, requestsPerMinute: 100_000 }));
  await writeFile(path.join(folder, 'store.json'), JSON.stringify(store.credentials), { mode: 0o600 });
  place = await emptyPlace({
    PLATFORM_RUNTIME_DRIVER: 'process',
    PLATFORM_DEFAULT_PLAN: 'paid',
    PLATFORM_RATE_LIMITS: 'service=1000000',
    PLATFORM_INTELLIGENCE_FILE: path.join(folder, 'providers.json'),
    PLATFORM_OUTBOUND_PRIVATE_ORIGINS: upstream.origin,
    PLATFORM_OUTBOUND_CA_FILE: upstream.caFile,
    PLATFORM_OBJECT_STORE_ENDPOINT: store.origin,
    PLATFORM_OBJECT_STORE_REGION: REGION,
    PLATFORM_OBJECT_STORE_BUCKET: BUCKET,
    PLATFORM_OBJECT_STORE_CREDENTIALS_FILE: path.join(folder, 'store.json'),
  });
  platform = await startPlatform(place);
  burglar = await settle('burglar');
  neighbour = await settle('neighbour');
});
after(async () => {
  await platform?.stop();
  await place?.remove();
  await store?.close();
  await upstream?.close();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => {
  upstream.arrived.length = 0;
  store.seen.length = 0;
  upstream.takeHead = null;
  // It tells where it was called, and no key.
  upstream.answer = (_req, res, { target }) => void res.end(`arrived at ${target}.`);
});

/** Each request that arrived is one of the burglar's, at its place, with the one key of that place. */
function assertOwn(arrived: readonly ArrivedRequest[], tenant = 'burglar'): void {
  for (const { target, rawHeaders } of arrived) {
    const place = /^\/(one|two|v1)(?:[/?]|$)/.exec(target)?.[1] ?? assert.fail(`it left its prefix: ${target}`);
    const keys = rawHeaders.filter((value) => value.includes('canary-'));
    assert.deepEqual(keys, [`Bearer ${keyOf(tenant, place === 'v1' ? 'model' : place)}`], target);
    assert.ok(!rawHeaders.some((value) => value.includes('pgw_')), target);
  }
}

const SERVICES = {
  'a slot': { to: 'PLATFORM_API_URL', target: '/v1/services/outbound/one/x', body: 'hello' },
  'AI calls': {
    to: 'PLATFORM_API_URL',
    target: '/v1/services/intelligence/openai/chat/completions',
    body: CHAT,
  },
  'object storage': { to: 'PLATFORM_S3_ENDPOINT', target: '/app/x', body: 'hello' },
} as const;
type Service = keyof typeof SERVICES;

const credential = ({ to }: (typeof SERVICES)[Service]) =>
  to === 'PLATFORM_S3_ENDPOINT' ? 'X-Amz-Security-Token: <token>' : 'Authorization: Bearer <token>';
const methodOf = (service: Service) => (service === 'object storage' ? 'PUT' : 'POST');
const head = (service: Service, lines: string, line = `${methodOf(service)} ${SERVICES[service].target} HTTP/1.1`) =>
  `${line}\r\nHost: <host>\r\n${credential(SERVICES[service])}\r\nContent-Type: application/json\r\n${lines}\r\n`;
const chunked = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;

/** What must not be taken for a request: it has no credential, another one's, or leads where no service is. */
const STOWAWAYS = [
  'GET /v1/services/outbound/two/stowaway HTTP/1.1\r\nHost: <host>\r\nConnection: close\r\n\r\n',
  `GET /v1/services/outbound/two/stowaway HTTP/1.1\r\nHost: <host>\r\nConnection: close\r\nAuthorization: Bearer ${STRANGER}\r\n\r\n`,
  'GET /stowaway HTTP/1.1\r\nHost: upstream\r\nConnection: close\r\n\r\n',
  'POST /v1/gateway/outbound/authorize HTTP/1.1\r\nHost: <host>\r\nConnection: close\r\nAuthorization: Bearer <token>\r\nContent-Length: 32\r\n\r\n{"slot":"stowaway","method":"GET"}',
];

/** Framings that two parsers could read in two ways, with what stands behind the message. */
const FRAMINGS: Readonly<Record<string, (service: Service, body: string, more: string) => string>> = {
  'both framings, the length first': (s, b, m) =>
    head(s, `Content-Length: ${b.length}\r\nTransfer-Encoding: chunked\r\n`) + chunked(b) + m,
  'both framings, the length last': (s, b, m) =>
    head(s, `Transfer-Encoding: chunked\r\nContent-Length: ${b.length + m.length}\r\n`) + chunked(b) + m,
  'two lengths': (s, b, m) =>
    head(s, `Content-Length: ${b.length}\r\nContent-Length: ${b.length + m.length}\r\n`) + b + m,
  'a list of lengths': (s, b, m) => head(s, `Content-Length: ${b.length}, ${b.length + m.length}\r\n`) + b + m,
  'a length with a sign': (s, b, m) => head(s, `Content-Length: +${b.length}\r\n`) + b + m,
  'a length in octal': (s, b, m) => head(s, `Content-Length: 0${b.length.toString(8)}x\r\n`) + b + m,
  'a coding that is nearly chunked': (s, b, m) => head(s, 'Transfer-Encoding: xchunked\r\n') + chunked(b) + m,
  'chunked twice': (s, b, m) => head(s, 'Transfer-Encoding: chunked, chunked\r\n') + chunked(b) + m,
  'chunked before another coding': (s, b, m) => head(s, 'Transfer-Encoding: chunked, identity\r\n') + chunked(b) + m,
  'a space before the colon': (s, b, m) => head(s, 'Transfer-Encoding : chunked\r\n') + chunked(b) + m,
  'a folded line': (s, b, m) => head(s, 'Transfer-Encoding:\r\n chunked\r\n') + chunked(b) + m,
  'a tab after the coding and a length': (s, b, m) =>
    head(s, `Transfer-Encoding:\tchunked\t\r\nContent-Length: 4\r\n`) + chunked(b) + m,
  'chunked in HTTP/1.0': (s, b, m) =>
    head(s, 'Transfer-Encoding: chunked\r\n', `${methodOf(s)} ${SERVICES[s].target} HTTP/1.0`) + chunked(b) + m,
  'lines that end with LF alone': (s, b, m) =>
    head(s, `Content-Length: ${b.length}\r\n`).replaceAll('\r\n', '\n') + b + m,
  'LF in an extension of a chunk': (s, b, m) =>
    `${head(s, 'Transfer-Encoding: chunked\r\n')}${b.length.toString(16)};a\nb\r\n${b}\r\n0\r\n\r\n${m}`,
  'a chunk larger than 64 bits': (s, b, m) =>
    `${head(s, 'Transfer-Encoding: chunked\r\n')}1000000000000000${b.length.toString(16)}\r\n${b}\r\n0\r\n\r\n${m}`,
  'a chunk without its end': (s, b, m) =>
    `${head(s, 'Transfer-Encoding: chunked\r\n')}${b.length.toString(16)}\r\n${b}0\r\n\r\n${m}`,
  'an expectation and more than the body': (s, b, m) =>
    head(s, `Expect: 100-continue\r\nContent-Length: ${b.length}\r\n`) + b + m,
  'an upgrade to HTTP/2': (s, b, m) =>
    head(
      s,
      `Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\nContent-Length: ${b.length}\r\n`,
    ) +
    b +
    m,
  'NUL in a field': (s, b, m) => head(s, `X-A: a\0b\r\nContent-Length: ${b.length}\r\n`) + b + m,
  'a field that names the length hop-by-hop': (s, b, m) =>
    head(s, `Connection: content-length, authorization, x-amz-security-token\r\nContent-Length: ${b.length}\r\n`) +
    b +
    m,
  'a body in trailers': (s, b, m) =>
    `${head(s, 'Transfer-Encoding: chunked\r\nTrailer: Authorization\r\n')}${b.length.toString(16)}\r\n${b}\r\n0\r\nAuthorization: Bearer ${STRANGER}\r\nHost: other\r\n\r\n${m}`,
};

for (const service of Object.keys(SERVICES) as Service[]) {
  test(`${service}: no framing lets a second request along`, async () => {
    const { to, body } = SERVICES[service];
    for (const [name, framed] of Object.entries(FRAMINGS)) {
      const exchanges = STOWAWAYS.map((more) => ({ to, parts: [{ text: framed(service, body, more) }] }));
      const told = await burglar.send(...exchanges);
      for (const { how, received } of told) {
        assert.equal(how, 'closed', name);
        assert.ok(!received.includes('stowaway.'), `${name}: ${received}`);
      }
    }
    for (const { target, body: arrived } of upstream.arrived) {
      assert.ok(!target.includes('stowaway'), target);
      assert.ok(!arrived.includes('stowaway'), arrived);
    }
    for (const { path: at, body: arrived } of store.seen) {
      assert.match(at, /^\/objects-of-apps\/installations\/inst-[0-9a-f-]+\/x$/);
      assert.ok(!arrived.includes('stowaway'));
    }
    assertOwn(upstream.arrived);
  });
}

test('requests to all services on one connection each get their own answer, under their own key', async () => {
  const targets = Array.from({ length: 18 }, (_, index) =>
    index % 3 === 2
      ? `/v1/services/intelligence/openai/chat/completions?number=${index}`
      : `/v1/services/outbound/${SLOTS[index % 3]}/?number=${index}`,
  );
  const text = targets.map((target, index) => {
    const close = index === targets.length - 1 ? 'Connection: close\r\n' : '';
    return `POST ${target} HTTP/1.1\r\nHost: <host>\r\nAuthorization: Bearer <token>\r\nContent-Type: application/json\r\n${close}Content-Length: ${CHAT.length}\r\n\r\n${CHAT}`;
  });
  const [told] = await burglar.send({ parts: [{ text: text.join('') }] });
  const arrivedAt = [...(told?.received ?? '').matchAll(/arrived at \/\w+\S*\?number=(\d+)\./g)];
  assert.deepEqual(
    arrivedAt.map(([, number]) => Number(number)),
    targets.map((_, index) => index),
    told?.received.slice(0, 2_000),
  );
  assert.equal(upstream.arrived.length, targets.length);
  assertOwn(upstream.arrived);
  assert.ok(upstream.arrived.every(({ body }) => body === CHAT));
});

test('who leaves, with a whole request or a part of one, keeps nothing open and nothing reserved', async () => {
  for (const service of Object.keys(SERVICES) as Service[]) {
    const { to, body } = SERVICES[service];
    const whole = head(service, `Content-Length: ${body.length}\r\n`) + body;
    const parts = [whole, whole.slice(0, -1), whole.slice(0, whole.indexOf('\r\n\r\n'))];
    for (const { how } of await burglar.send(...parts.map((text) => ({ to, parts: [{ text }], end: true }))))
      assert.equal(how, 'closed', service);
  }
  // Half a body arrives nowhere.
  for (const { body } of [...upstream.arrived, ...store.seen])
    assert.ok(['hello', CHAT].includes(body.toString()), body.toString());
  await until('nothing to be reserved', async () => {
    const { usage } = await burglar.account.browser.take<AppIntelligence>(`/v1/apps/${burglar.appId}/intelligence`);
    return usage.reserved === 0;
  });
});

const call = (target: string): Exchange => ({
  parts: [
    { text: `GET ${target} HTTP/1.1\r\nHost: <host>\r\nAuthorization: Bearer <token>\r\nConnection: close\r\n\r\n` },
  ],
});

/** What a service sends without end, after the begin of an answer. */
const ENDLESS: Readonly<Record<string, readonly [begin: string, again: string]>> = {
  interim: ['', 'HTTP/1.1 102 Processing\r\nA: b\r\n\r\n'],
  lines: ['', '\r\n'],
  fields: ['HTTP/1.1 200 OK\r\n', 'A: b\r\n'],
  extension: ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;', 'aaaa'],
  trailers: ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n', 'A: b\r\n'],
};

test('services that never come to an end are broken off, and others are called meanwhile', async () => {
  upstream.takeHead = ({ socket, url = '', rawHeaders }, res) => {
    const [begin, again] = ENDLESS[url.split('?')[1] ?? ''] ?? [];
    if (begin === undefined || again === undefined) {
      assert.ok(rawHeaders.includes(`Bearer ${keyOf('neighbour', 'one')}`));
      res.end('for the neighbour.');
      return;
    }
    const text = again.repeat(1_000);
    const next = (): void => {
      while (socket.writable && socket.write(text, 'latin1'));
    };
    socket.on('error', () => undefined).on('drain', next);
    socket.write(begin, 'latin1');
    next();
  };
  const calls = Object.keys(ENDLESS).flatMap((kind) => [
    call(`/v1/services/outbound/one/x?${kind}`),
    call(`/v1/services/intelligence/openai/models/small?${kind}`),
  ]);
  const [ended, ...others] = await Promise.all([
    burglar.send(...calls),
    ...Array.from({ length: 10 }, () => neighbour.send(call('/v1/services/outbound/one/x'))),
  ]);
  for (const [index, { how, received }] of ended.entries()) {
    assert.equal(how, 'closed', JSON.stringify(calls[index]));
    assert.ok(received.startsWith('HTTP/1.1 502 ') || !received.includes('\r\n0\r\n'), received);
  }
  for (const [told] of others) assert.match(told?.received ?? '', /^HTTP\/1\.1 200 .*for the neighbour\./s);
});

test('a slot that is bound to another secret again and again: no call that begins later has the former one', async () => {
  let isOver = false;
  const busy = (async () => {
    while (!isOver) await burglar.send(...Array.from({ length: 8 }, () => call('/v1/services/outbound/one/x')));
  })();
  for (let count = 0; count < 20; count += 1) {
    const secret = SLOTS[count % 2 === 0 ? 1 : 0];
    await bind(burglar.account, burglar.appId, 'one', secret);
    await burglar.send(call(`/v1/services/outbound/one/later?${count}`));
    const later = upstream.arrived.find(({ target }) => target === `/one/later?${count}`);
    assert.ok(later?.rawHeaders.includes(`Bearer ${keyOf('burglar', secret)}`), `after change ${count}`);
  }
  isOver = true;
  await busy;
});
