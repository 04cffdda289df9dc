// What the operator offers on the machine itself, a model server and an object store, is reached from workloads of the
// docker driver, by those that may use it, and is not any more when the operator takes it away.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { engineMissing, prepareEngine, type TestEngine } from '../../packages/runtime/test-support/docker-engine.ts';
import { openBackend } from '../support/backend.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { inOwnNetwork } from '../support/own-network.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { publishTestApp } from '../support/publish.ts';
import { until } from '../support/wait.ts';

const PATIENCE = 120_000;

const BACKEND = `
const { createServer } = require('node:http');
const { env } = process;
const get = (url, headers) => fetch(url, { headers }).then(async (answer) => answer.status + ' ' + (await answer.text()));
const asks = {
  '/model': () => get(env.MODEL_URL + '/models', { authorization: 'Bearer ' + env.MODEL_KEY }),
  '/store': () => get(env.PLATFORM_S3_ENDPOINT + '/app/file', { 'x-amz-security-token': env.PLATFORM_S3_SESSION_TOKEN }),
};
const stream = () => fetch(env.MODEL_URL + '/chat/completions', {
  method: 'POST',
  headers: { authorization: 'Bearer ' + env.MODEL_KEY, 'content-type': 'application/json' },
  body: JSON.stringify({ model: 'small', stream: true, messages: [] }),
}).then((answer) => answer.text());
createServer((request, response) => {
  if (request.url === '/stream') stream().catch(() => undefined);
  (asks[request.url] ?? (async () => ''))().then((text) => response.end(text), (error) => response.end(String(error)));
}).listen(Number(env.PORT));
`;

inOwnNetwork(import.meta.url, { skip: engineMissing(), timeout: 10 * 60_000 }, () => {
  let engine: TestEngine;
  let folder: string;
  let place: PlatformPlace;
  let platform: PlatformProcess;
  let account: TestAccount;
  /** FAKES on loopback: a model server, and an object store that has one object at every key. */
  const servers: Server[] = [];
  /** Streams that they began and never end, and how many of them the other side has left. */
  let held = 0;
  let left = 0;
  const file = () => path.join(folder, 'providers.json');

  async function listening(text: string): Promise<string> {
    const server = createServer((req, res) => {
      if (req.method !== 'POST') return void res.writeHead(200, { 'content-type': 'text/plain' }).end(text);
      res.on('close', () => {
        left += 1;
      });
      held += 1;
      res.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: {"choices":[]}\n\n');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    servers.push(server);
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  async function offer(origins: readonly string[]): Promise<void> {
    const providers = origins.map((origin) => ({
      id: 'local',
      baseUrl: `${origin}/v1`,
      dialect: 'openai',
      platformKeyFile: 'key',
      environment: { baseUrl: 'MODEL_URL', apiKey: 'MODEL_KEY' },
    }));
    await writeFile(file(), JSON.stringify({ providers }));
  }

  before(async () => {
    engine = prepareEngine('ours');
    folder = await mkdtemp(path.join(tmpdir(), 'providers-'));
    await writeFile(path.join(folder, 'key'), 'any-word', { mode: 0o600 });
    await writeFile(path.join(folder, 'store.json'), '{"accessKeyId":"id","secretAccessKey":"secret"}', {
      mode: 0o600,
    });
    await offer([await listening('the first model server')]);
    place = await platformPlace({
      PLATFORM_RUNTIME_DRIVER: 'docker',
      PLATFORM_RUNTIME_DOCKER_SOCKET: engine.socketPath,
      PLATFORM_INTELLIGENCE_FILE: file(),
      PLATFORM_DEFAULT_PLAN: 'paid',
      PLATFORM_OBJECT_STORE_ENDPOINT: await listening('an object'),
      PLATFORM_OBJECT_STORE_BUCKET: 'objects',
      PLATFORM_OBJECT_STORE_CREDENTIALS_FILE: path.join(folder, 'store.json'),
    });
    await engine.start();
    platform = await startPlatform(place);
    account = await registerAccount(place, 'asker');
    const permissions = [
      { id: 'intelligence.use', resources: ['local:*'] },
      { id: 'object-storage.raw', resources: ['self'] },
    ];
    const workload = { runtime: 'node', entry: 'main.cjs' };
    await publishTestApp(
      account,
      'asking',
      { workload, permissions },
      { 'frontend/index.html': 't', 'workload/main.cjs': BACKEND },
    );
    await account.browser.take('/v1/apps', { body: { appId: 'asking' } });
  });
  after(async () => {
    try {
      await platform?.stop();
      await place?.remove();
    } finally {
      await engine.remove();
      for (const server of servers) server.close();
      await rm(folder, { recursive: true });
    }
  });

  test('a model server and an object store on the machine are reached, and another model server after a SIGHUP', async () => {
    const ask = await openBackend(place, account, 'asking');
    assert.match((await ask('/model')).text, /^200 the first model server$/);
    assert.match((await ask('/store')).text, /^200 an object$/);
    await offer([await listening('the second model server')]);
    process.kill(platform.pid, 'SIGHUP');
    await until(
      'the second model server to answer',
      async () => (await ask('/model')).text === '200 the second model server',
      PATIENCE,
    );
    await ask('/stream');
    await until('a stream', () => held === 1);
    await offer([]);
    process.kill(platform.pid, 'SIGHUP');
    // With the provider, for which no grant changed.
    await until('its stream to end', () => left === 1);
    await until(
      'the provider to be gone',
      async () => /^503 .*no AI provider/.test((await ask('/model')).text),
      PATIENCE,
    );
    assert.match((await ask('/store')).text, /^200 an object$/);
  });
});
