// The sweep for keys of services, with any driver. No key of a service comes to rest outside the Gateway that uses it: the platform's and an account's own key of an AI
// provider, the secrets of slots and the key of the object store are used by a real workload, against services that do what
// they can to give them back, and then searched for in every form and everywhere.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import type { SecretBinding } from '@platform/contract';
import { type FakeStore, REGION, startFakeStore } from '../../packages/gateway/test-support/fake-store.ts';
import { type AskBackend, openBackend } from '../support/backend.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import {
  emptyPlace,
  type PlatformPlace,
  type PlatformProcess,
  runCommand,
  startPlatform,
} from '../support/platform-process.ts';
import { publishTestApp } from '../support/publish.ts';
import { rawRequest } from '../support/raw-http.ts';
import {
  assertNowhere,
  databaseOf,
  environmentTexts,
  folderTexts,
  formsInMemory,
  memoryFileTexts,
  type Texts,
  writtenMemory,
} from '../support/sweep.ts';
import { type ArrivedRequest, startTlsUpstream, type TlsUpstream } from '../support/tls-upstream.ts';
import { until } from '../support/wait.ts';
import { type Answers, FIELDS, REDIRECTS, TELLING, UNTELLING } from './canary-answers.ts';

/** In every key, so that a part of one is found too; with letters that each form writes differently. */
const MARK = 'cnry"5f/1d+3c=&9a';
const KEYS = {
  platform: `sk-${MARK}-platform`,
  own: `sk-${MARK}-own`,
  slot: `slot-${MARK}`,
  query: `query-${MARK}`,
} as const;
const STORE = { accessKeyId: 'AKCANARY7F31B9D2E5', secretAccessKey: `s3-${MARK}`, sessionToken: `session-${MARK}` };
const CANARIES = { 'a key': MARK, 'the id of the store’s key': STORE.accessKeyId };
const BUCKET = 'objects-of-apps';
const OWNER = 'keeper-of-keys';
/** A file that workloads write to their /tmp. */
const NOTE = 'note-of-a-workload';
const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

/** Makes every call that gives it no key, by what is decided: it is searched through, memory included. */
const UNTOLD = 'untold';
/** Makes the calls whose answers quote a key where they pass as they are (docs/security/threat-model.md). */
const TOLD = 'told';

interface Call {
  readonly to: 'PLATFORM_API_URL' | 'PLATFORM_S3_ENDPOINT';
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** `false`: the workload throws the answer away and keeps its status. */
  readonly keep?: boolean;
}

interface Told {
  readonly status?: number;
  readonly statusMessage?: string;
  readonly rawHeaders?: readonly string[];
  readonly text?: string;
  readonly error?: string;
}

let folder: string;
let upstream: TlsUpstream;
let store: FakeStore;
let place: PlatformPlace;
let platform: PlatformProcess;
let account: TestAccount;
const backends = new Map<string, AskBackend>();
const responses: Record<string, string> = {};
const traces: string[] = [];

function provider(id: 'openai' | 'anthropic', below: string): object {
  return { id, dialect: id, baseUrl: upstream.origin + below, platformKeyFile: 'key' };
}

async function put(at: string, body: object): Promise<void> {
  const answer = await account.fetch(at, { method: 'PUT', body });
  assert.ok(answer.status < 300, answer.text);
  responses[`PUT ${at}`] = JSON.stringify(answer);
}

async function install(appId: string): Promise<void> {
  const slot = (name: string) => ({ name, origin: upstream.origin, pathPrefix: '/api', methods: ['GET', 'POST'] });
  const manifest = {
    // As little memory as lets a machine’s be searched in one piece.
    workload: { runtime: 'node', entry: 'main.mjs', volume: true, resources: { memoryMiB: 128 } },
    permissions: [
      { id: 'intelligence.use', resources: ['openai:small', 'anthropic:small'] },
      { id: 'secrets.use', resources: ['slot', 'query'] },
      { id: 'network.connect', resources: [upstream.origin] },
      { id: 'object-storage.raw', resources: ['self'] },
    ],
    secretSlots: [slot('slot'), slot('query')],
  };
  const main = await readFile(new URL('canary-workload.mjs', import.meta.url));
  await publishTestApp(account, appId, manifest, {
    'frontend/index.html': '<!doctype html>',
    'workload/main.mjs': main,
  });
  await account.browser.take('/v1/apps', { body: { appId } });
  const bindings = `/v1/apps/${appId}/secret-bindings`;
  const { items } = await account.browser.take<{ items: SecretBinding[] }>(bindings);
  for (const { slot: name, declarationHash } of items) {
    const inject = name === 'query' ? { inject: { in: 'query', name: 'key' } } : {};
    await put(`${bindings}/${name}`, { secret: name, declarationHash, ...inject });
  }
  const ask = await openBackend(place, account, appId);
  // A virtual machine that is emulated takes its time.
  await until(`${appId} to answer`, async () => (await ask('/')).status === 200, 120_000);
  backends.set(appId, ask);
}

/** Has the workload make one call while the services answer so. */
async function call(appId: string, name: string, { headers, ...more }: Call): Promise<Told> {
  const traced = { traceparent: TRACE, 'content-type': 'application/json', ...headers };
  const asked = JSON.stringify({ ...more, headers: traced });
  const answer = await backends.get(appId)?.(`/?call=${encodeURIComponent(asked)}`);
  assert.equal(answer?.status, 200, answer?.text);
  responses[`${appId}: ${name}`] = JSON.stringify(answer.headers) + answer.text;
  return JSON.parse(answer.text) as Told;
}

const chat = (id: string, more: object = {}): Call => ({
  to: 'PLATFORM_API_URL',
  path: `/v1/services/intelligence/${id}/${id === 'openai' ? 'chat/completions' : 'v1/messages'}`,
  body: JSON.stringify({ model: 'small', max_tokens: 9, messages: [{ role: 'user', content: 'Hello.' }], ...more }),
});
const outbound = (slot: string, more: Partial<Call> = {}): Call => ({
  ...{ to: 'PLATFORM_API_URL', path: `/v1/services/outbound/${slot}/issues`, body: '{}' },
  ...more,
});
const object = (method: string, more: Partial<Call> = {}): Call => ({
  ...{ to: 'PLATFORM_S3_ENDPOINT', path: '/app/photos/one.jpg', method },
  ...(method === 'PUT' ? { body: 'a photo' } : {}),
  ...more,
});

/** Each service with what it is called by, and the key that must arrive there. */
const SERVICES = {
  'the platform’s key': [chat('openai'), KEYS.platform],
  'an own key': [chat('anthropic'), KEYS.own],
  'a slot in a header': [outbound('slot'), KEYS.slot],
  'a slot in a query': [outbound('query'), KEYS.query],
} as const;

/** As the service received it. */
function keyOf({ rawHeaders, target }: ArrivedRequest): string {
  const values = rawHeaders.filter((value) => value.includes(MARK));
  const inQuery = new URL(target, upstream.origin).searchParams.get('key');
  return inQuery ?? values[0]?.replace(/^Bearer /, '') ?? '';
}

function answerWith(answers: Answers): void {
  upstream.answer = (req, res, arrived) => {
    traces.push(...arrived.rawHeaders.filter((value) => value.startsWith('00-')));
    const key = keyOf(arrived);
    assert.ok(key.includes(MARK));
    answers(res, key, req);
  };
}

async function environmentOf(appId: string): Promise<Record<string, string>> {
  return JSON.parse((await backends.get(appId)?.('/'))?.text ?? '{}').environment;
}

/** Where workloads run. */
export interface Surroundings {
  /** Resolves with more variables for the platform. */
  open(): Promise<NodeJS.ProcessEnv>;
  /** Before the platform starts. */
  prepare?(dataDirectory: string): Promise<void>;
  /** Of the platform and all that it started, Gateways and workloads included. */
  processes(platform: PlatformProcess): Promise<number[]>;
  /** Of workloads alone. */
  workloads(platform: PlatformProcess): Promise<number[]>;
  /** Workloads have machines of their own: their files are in their memory and nowhere else. */
  readonly machines?: boolean;
  /** What is kept outside the data folder. */
  texts(): Promise<Texts>;
  close(): Promise<void>;
}

/** Declares the tests. */
export function keysOfServices(around: Surroundings): void {
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'canary-'));
    upstream = await startTlsUpstream();
    store = await startFakeStore(BUCKET);
    store.credentials = STORE;
    const files = {
      key: KEYS.platform,
      'store.json': JSON.stringify(STORE),
      'providers.json': JSON.stringify({ providers: [provider('openai', '/v1'), provider('anthropic', '')] }),
    };
    for (const [name, content] of Object.entries(files))
      await writeFile(path.join(folder, name), content, { mode: 0o600 });
    place = await emptyPlace({
      PLATFORM_LOG_LEVEL: 'trace',
      PLATFORM_DEFAULT_PLAN: 'paid',
      PLATFORM_INTELLIGENCE_FILE: path.join(folder, 'providers.json'),
      PLATFORM_OUTBOUND_PRIVATE_ORIGINS: upstream.origin,
      PLATFORM_OUTBOUND_CA_FILE: upstream.caFile,
      PLATFORM_OBJECT_STORE_ENDPOINT: store.origin,
      PLATFORM_OBJECT_STORE_REGION: REGION,
      PLATFORM_OBJECT_STORE_BUCKET: BUCKET,
      PLATFORM_OBJECT_STORE_CREDENTIALS_FILE: path.join(folder, 'store.json'),
      ...(await around.open()),
    });
    await around.prepare?.(place.dataDirectory);
    platform = await startPlatform(place);
    account = await registerAccount(place, OWNER);
    await put('/v1/account/intelligence/anthropic/key', { key: KEYS.own });
    await put('/v1/account/secrets/slot', { value: KEYS.slot });
    await put('/v1/account/secrets/query', { value: KEYS.query });
    for (const appId of [UNTOLD, TOLD]) await install(appId);
  });
  after(async () => {
    await platform?.stop();
    await place?.remove();
    await around.close();
    await store?.close();
    await upstream?.close();
    await rm(folder, { recursive: true, force: true });
  });

  for (const [service, [asked, key]] of Object.entries(SERVICES)) {
    test(`${service}: services that do not quote it in a body`, async () => {
      for (const [name, [answers, status]] of Object.entries(UNTELLING)) {
        const before = upstream.arrived.length;
        answerWith(answers);
        const told = await call(UNTOLD, `${service}, ${name}`, asked);
        assert.equal(told.status, status, `${name}: ${JSON.stringify(told)}`);
        assert.equal(upstream.arrived.length, before + 1, name);
        assert.equal(keyOf(upstream.arrived.at(-1) as ArrivedRequest), key);
      }
      const isOutbound = asked.path.includes('/outbound/');
      answerWith(REDIRECTS);
      const redirected = await call(UNTOLD, `${service}, redirect`, asked);
      assert.equal(redirected.status, 502, JSON.stringify(redirected));
      answerWith(FIELDS);
      // A service of a slot tells the app what it likes in its fields too.
      const [appId, keep] = isOutbound ? [TOLD, false] : [UNTOLD, true];
      assert.equal((await call(appId, `${service}, fields`, { ...asked, keep })).status, 401);
    });

    test(`${service}: services that quote it in a body, which passes`, async () => {
      for (const [name, answers] of Object.entries(TELLING)) {
        answerWith(answers);
        const before = upstream.arrived.length;
        await call(TOLD, `${service}, ${name}`, { ...asked, keep: false });
        assert.equal(upstream.arrived.length, before + 1, name);
      }
    });
  }

  test('calls that are refused', async () => {
    const before = upstream.arrived.length;
    const refused: Readonly<Record<string, readonly [Call, number]>> = {
      'a model that is not granted': [chat('openai', { model: 'large' }), 403],
      'a provider that is unknown': [{ ...chat('openai'), path: '/v1/services/intelligence/nobody/chat' }, 404],
      'a body that is none': [{ ...chat('anthropic'), body: '{' }, 400],
      'a slot that is unknown': [outbound('nothing'), 404],
      'a method that is not declared': [outbound('slot', { method: 'DELETE' }), 403],
      'the field of the secret': [outbound('query', { path: '/v1/services/outbound/query/x?key=1' }), 400],
      'a path that leaves': [outbound('slot', { path: '/v1/services/outbound/slot/%2e%2e/x' }), 400],
    };
    for (const [name, [asked, status]] of Object.entries(refused)) {
      const told = await call(UNTOLD, name, asked);
      assert.equal(told.status, status, `${name}: ${JSON.stringify(told)}`);
    }
    assert.equal(upstream.arrived.length, before);
  });

  test('the store, with its key, another key, and answers that quote it', async () => {
    const status = async (name: string, asked: Call) => (await call(UNTOLD, `store, ${name}`, asked)).status;
    assert.equal(await status('put', object('PUT')), 200);
    assert.equal(await status('get', object('GET')), 200);
    assert.equal(await status('list', object('GET', { path: '/app?list-type=2' })), 200);
    assert.equal(await status('missing', object('GET', { path: '/app/none' })), 404);
    assert.equal(store.seen.at(-1)?.headers['x-amz-security-token'], STORE.sessionToken);
    store.credentials = { ...STORE, secretAccessKey: 'replaced' };
    assert.equal(await status('wrong key', object('GET')), 503);
    store.credentials = STORE;
    const all = `${STORE.accessKeyId} ${STORE.secretAccessKey} ${STORE.sessionToken}`.replaceAll('&', '&amp;');
    const document = (code: string) =>
      `<Error><Code>${code}</Code><Message>${all}</Message><AWSAccessKeyId>${STORE.accessKeyId}</AWSAccessKeyId><CanonicalRequest>x-amz-security-token:${all}</CanonicalRequest></Error>`;
    const answers: Readonly<Record<string, readonly [NonNullable<FakeStore['next']>, number]>> = {
      'a wrong signature': [(_req, res) => void res.writeHead(403).end(document('SignatureDoesNotMatch')), 503],
      'a token that expired': [(_req, res) => void res.writeHead(400).end(document('ExpiredToken')), 503],
      'a failure of its own': [(_req, res) => void res.writeHead(500).end(document('InternalError')), 500],
      'a code that is a key': [(_req, res) => void res.writeHead(403).end(document(STORE.accessKeyId)), 503],
      'a code that is a secret': [(_req, res) => void res.writeHead(403).end(document(all)), 503],
      'no document': [(_req, res) => void res.writeHead(500).end(`<p>${all}`), 503],
      'a redirect': [
        (_req, res) =>
          void res.writeHead(307, { location: `http://x/?X-Amz-Security-Token=${encodeURIComponent(all)}` }).end(),
        503,
      ],
      'fields and a reason phrase': [
        (_req, res) => void res.writeHead(404, STORE.secretAccessKey, { 'x-key': all }).end(document('NoSuchKey')),
        404,
      ],
      'a status line that is none': [(req) => void req.socket.end(`HTTP/1.1 ${all}\r\n\r\n`), 503],
      'no answer': [(req) => void req.socket.destroy(), 503],
    };
    for (const [name, [next, expected]] of Object.entries(answers)) {
      store.next = next;
      assert.equal(await status(name, object('GET')), expected, responses[`${UNTOLD}: store, ${name}`]);
    }
    const refused = { path: '/app/one?X-Amz-Signature=00&X-Amz-Algorithm=AWS4-HMAC-SHA256' };
    assert.equal(await status('presigned', object('GET', refused)), 400);
    assert.equal(await status('another bucket', object('GET', { path: `/${BUCKET}/one` })), 403);
  });

  test('no key is in what the workloads were answered, in their logs, or in any answer of the platform', async () => {
    for (const appId of [UNTOLD, TOLD])
      for (const below of ['', '/logs?limit=200', '/intelligence', '/secret-bindings', '/permissions', '/status'])
        responses[`${appId}${below}`] = (await account.fetch(`/v1/apps/${appId}${below}`)).text;
    for (const below of ['/v1/account/intelligence', '/v1/account/secrets', '/v1/apps', '/v1/notifications'])
      responses[below] = (await account.fetch(below)).text;
    const launch = await account.fetch(`/v1/apps/${UNTOLD}/launch`, { method: 'POST' });
    responses.launch = launch.text;
    const metrics = await rawRequest({
      port: place.port,
      path: '/metrics',
      headers: { host: new URL(place.origin).host },
    });
    responses.metrics = metrics.text;
    for (const command of [['ps'], ['doctor'], ['logs', UNTOLD]])
      responses[command.join(' ')] = await runCommand(command, place.environment).catch(
        (error: Error) => error.message,
      );
    assert.match(responses[`${UNTOLD}/logs?limit=200`] ?? '', /statusMessage/, 'the workload logs what it sees');
    assert.ok(traces.length > 20 && traces.every((one) => one === TRACE), 'the trace of a call is the caller’s');
    assertNowhere(responses, CANARIES);
  });

  test('no key is in the log, the database or the data folder', async () => {
    const database = await databaseOf(place);
    assert.ok(database.includes(OWNER), 'the sweep reads what is there');
    assert.match(platform.output(), /SignatureDoesNotMatch/, 'failures of services are in the log');
    assertNowhere({ 'the log': platform.output(), 'the database': database }, CANARIES);
    const files = folderTexts(place.dataDirectory, /^postgres\/bin-/);
    assert.ok(
      Object.values(files).some((text) => text.includes('statusMessage')),
      'what workloads logged is there',
    );
    assertNowhere({ ...files, ...(await around.texts()) }, CANARIES);
  });

  test('no key is in an environment, in the arguments or the files in memory of any process', async () => {
    const pids = await around.processes(platform);
    assertNowhere(environmentTexts(pids), CANARIES);
    for (const appId of [UNTOLD, TOLD])
      assertNowhere({ [`the environment of ${appId}`]: JSON.stringify(await environmentOf(appId)) }, CANARIES);
    const files = memoryFileTexts(pids);
    assert.ok(
      around.machines === true || Object.keys(files).some((file) => file.endsWith(`/${NOTE}`)),
      'the sweep reads what a workload keeps there',
    );
    assertNowhere({ ...files, ...folderTexts('/dev/shm') }, CANARIES);
  });

  test('no key is in the memory of a workload that no answer told it', async () => {
    const { PLATFORM_GATEWAY_TOKEN: token = '' } = await environmentOf(UNTOLD);
    const memories: Record<string, Buffer> = {};
    for (const pid of await around.workloads(platform)) {
      const memory = await writtenMemory(pid);
      if (memory.includes(token)) memories[`the memory of process ${pid}`] = memory;
    }
    assert.ok(Object.keys(memories).length > 0, 'what is known to be there is found');
    if (around.machines === true)
      for (const memory of Object.values(memories))
        assert.ok(memory.includes('Linux version '), 'the guest is searched');
    assertNowhere(memories, CANARIES, formsInMemory);
  });
}
