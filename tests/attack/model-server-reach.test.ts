// A model server of the machine that the master account put into use: apps reach it through their Gateways, and nothing else of the
// machine by it, whatever they send and whatever it answers; and nobody looks at the machine's ports unless the operator asks.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ModelServer } from '@platform/contract';
import { subjectOfProvider } from '@platform/contract/setting-subjects';
import { confirm, registerAccount } from '../support/client.ts';
import { type IntelligenceApp, type IntelligenceWorld, startIntelligenceWorld } from '../support/intelligence-world.ts';
import { type ModelServerDouble, startModelServer, startNeighbour } from '../support/model-server-double.ts';
import { problemCode, rawRequest } from '../support/raw-http.ts';

let world: IntelligenceWorld;
let ollama: ModelServerDouble;
/** Something else of the machine, such as the operator's own notes. */
let neighbour: ModelServerDouble;
let app: IntelligenceApp;

const BODY = JSON.stringify({ model: 'llama3.2:latest', messages: [{ role: 'user', content: 'Hello' }] });

before(async () => {
  ollama = await startModelServer('ollama', ['llama3.2:latest']);
  neighbour = await startNeighbour((_, response) => response.end('secrets of the neighbour'));
  world = await startIntelligenceWorld(
    {},
    {
      config: { masterAccount: 'asker' },
      modelPlaces: [
        { port: ollama.port, path: '/api/tags' },
        { port: neighbour.port, path: '/v1/models' },
      ],
    },
  );
});
after(async () => {
  await world?.close();
  await Promise.all([ollama.close(), neighbour.close()]);
});

async function find(): Promise<readonly ModelServer[]> {
  const path = '/v1/operator/model-servers/find';
  return (await world.account.browser.take<{ items: ModelServer[] }>(path, { body: {} })).items;
}

async function put(id: string, baseUrl: string): Promise<void> {
  const confirmation = await confirm(world.account, 'operator.provider.set', subjectOfProvider(id, baseUrl));
  const body = { baseUrl, dialect: 'openai', key: 'local', confirmation };
  await world.account.browser.take(`/v1/operator/providers/${id}`, { method: 'PUT', body });
}

function ask(path: string, headers: Readonly<Record<string, string>> = {}) {
  return rawRequest({
    port: app.port,
    method: 'POST',
    path,
    headers: {
      host: `127.0.0.1:${app.port}`,
      authorization: `Bearer ${app.token}`,
      'content-type': 'application/json',
      ...headers,
    },
    body: BODY,
  });
}

test('nobody looks before the operator asks; then the server is found, and a neighbour is asked once and is none', async () => {
  await world.account.browser.take('/v1/operator/settings');
  assert.deepEqual([ollama.seen, neighbour.seen], [[], []]);
  const stranger = await registerAccount(world.core, 'stranger');
  const refused = await stranger.fetch('/v1/operator/model-servers/find', { body: {} });
  assert.equal(problemCode(refused), 'master_account_only');
  assert.deepEqual([ollama.seen, neighbour.seen], [[], []]);
  const baseUrl = `${ollama.origin}/v1`;
  assert.deepEqual(await find(), [{ kind: 'ollama', baseUrl, models: ['llama3.2:latest'], provider: null }]);
  assert.deepEqual([ollama.seen, neighbour.seen], [['GET /api/tags'], ['GET /v1/models']]);
});

test('in use, an app with the permission gets its answer through its Gateway', async () => {
  await put('ollama', `${ollama.origin}/v1`);
  assert.equal((await find())[0]?.provider, 'ollama');
  app = await world.openApp('local-asker', ['ollama:*']);
  const answer = await ask('/v1/services/intelligence/ollama/chat/completions');
  assert.equal(answer.status, 200, answer.text);
  assert.match(answer.text, /from this machine/);
  assert.equal((await app.settled()).tokens, 8);
});

test('nothing else of the machine is reached by it, however the path and the fields are written', async () => {
  const before = neighbour.seen.length;
  const place = `127.0.0.1:${neighbour.port}`;
  for (const path of [
    `/v1/services/intelligence/ollama/http://${place}/x`,
    `/v1/services/intelligence/ollama//${place}/x`,
    `/v1/services/intelligence/ollama/@${place}/x`,
    `/v1/services/intelligence/ollama:@${place}/x`,
    `/v1/services/intelligence/ollama/..%2f..%2f${place}/x`,
    `/v1/services/intelligence/ollama\\@${place}/x`,
    `/v1/services/intelligence/${place}/x`,
    `http://${place}/v1/services/intelligence/ollama/x`,
  ])
    await ask(path).catch(() => undefined);
  for (const headers of [
    { host: place },
    { forwarded: `host=${place}` },
    { 'x-forwarded-host': place },
    { 'x-original-url': `http://${place}/x` },
  ])
    await ask('/v1/services/intelligence/ollama/chat/completions', headers).catch(() => undefined);
  assert.equal(neighbour.seen.length, before);
});

test('where it sends an app elsewhere on the machine, the Gateway does not go', async () => {
  const away = await startNeighbour((_, response) =>
    response.writeHead(307, { location: `${neighbour.origin}/secrets` }).end(),
  );
  try {
    await put('away', `${away.origin}/v1`);
    app = await world.openApp('sent-away', ['away:*']);
    const before = neighbour.seen.length;
    const answer = await ask('/v1/services/intelligence/away/chat/completions');
    assert.ok(away.seen.length > 0, answer.text);
    assert.doesNotMatch(answer.text, /secrets of the neighbour/);
    assert.equal(neighbour.seen.length, before);
  } finally {
    await away.close();
  }
});

test('removed, it is reached no more, by a Gateway that still runs', async () => {
  app = await world.openApp('last-asker', ['ollama:*']);
  assert.equal((await ask('/v1/services/intelligence/ollama/chat/completions')).status, 200);
  const confirmation = await confirm(world.account, 'operator.provider.remove', 'ollama');
  await world.account.browser.take('/v1/operator/providers/ollama', { method: 'DELETE', body: { confirmation } });
  const before = ollama.seen.length;
  const answer = await ask('/v1/services/intelligence/ollama/chat/completions');
  assert.equal(answer.status, 404, answer.text);
  assert.equal(ollama.seen.length, before);
});
