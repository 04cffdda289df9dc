// Promises of the look for model servers: each kind is known by how it answers, everybody else on those ports is passed over, and
// nothing that they answer hurts.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { limits } from '@platform/contract';
import { freePort } from '../../../../tests/support/free-port.ts';
import {
  json,
  listOf,
  type ModelServerDouble,
  type ModelServerKind,
  startModelServer,
  startNeighbour,
} from '../../../../tests/support/model-server-double.ts';
import { findModelServers } from './model-servers.ts';

const doubles: ModelServerDouble[] = [];
after(() => Promise.all(doubles.map((one) => one.close())));

type Path = '/api/tags' | '/v1/models';

async function kept(starting: Promise<ModelServerDouble>): Promise<ModelServerDouble> {
  const double = await starting;
  doubles.push(double);
  return double;
}

async function foundAt({ port }: Pick<ModelServerDouble, 'port'>, path: Path = '/v1/models') {
  return (await findModelServers([{ port, path }]))[0];
}

for (const [kind, path, models] of [
  ['ollama', '/api/tags', ['llama3.2:latest', 'qwen3:8b']],
  ['llama.cpp', '/v1/models', ['/models/gemma-3-4b.gguf']],
  ['vllm', '/v1/models', ['Qwen/Qwen3-8B']],
  ['lm-studio', '/v1/models', ['mistral-nemo', 'text-embedding-nomic']],
] as const satisfies readonly (readonly [ModelServerKind, Path, readonly string[]])[])
  test(`a double of ${kind} is found with its models`, async () => {
    const double = await kept(startModelServer(kind, models));
    assert.deepEqual(await foundAt(double, path), { kind, baseUrl: `${double.origin}/v1`, models: [...models] });
    assert.deepEqual(double.seen, [`GET ${path}`], 'one question, and no more');
  });

test('a server of the dialect that does not say what it is, is one, and one without models too', async () => {
  const other = await kept(startNeighbour((_, response) => json(response, listOf(['m'], 'somebody'))));
  assert.equal((await foundAt(other))?.kind, 'other');
  const empty = await kept(startModelServer('ollama', []));
  assert.deepEqual((await foundAt(empty, '/api/tags'))?.models, []);
});

test('names that no model has are left out, and of too many the first count', async () => {
  const names = ['fine', 'two words', 'line\nbreak', '', 'x'.repeat(201), 'fine'];
  const odd = await kept(startNeighbour((_, response) => json(response, listOf(names, 'vllm'))));
  assert.deepEqual((await foundAt(odd))?.models, ['fine']);
  const many = Array.from({ length: 500 }, (_, index) => `model-${index}`);
  const large = await kept(startNeighbour((_, response) => json(response, listOf(many, 'vllm'))));
  assert.equal((await foundAt(large))?.models.length, limits.intelligenceModels.value);
});

test('a redirect is not followed', async () => {
  const target = await kept(startModelServer('vllm', ['m']));
  const away = await kept(
    startNeighbour((_, response) => response.writeHead(307, { location: `${target.origin}/v1/models` }).end()),
  );
  assert.equal(await foundAt(away), undefined);
  assert.deepEqual(target.seen, []);
});

for (const [name, answer] of [
  ['a page', '<!doctype html><title>My router</title>'],
  ['JSON of something else', '{"status":"ok","data":[1,2]}'],
  ['a list of something else', '{"object":"list","data":[{"id":"cus_1","object":"customer"}]}'],
  ['an object without prototype members', '{"object":"list","data":{"length":1}}'],
  ['an answer that is too long', `{"object":"list","data":[],"x":"${'x'.repeat(2 * 1024 * 1024)}"}`],
  ['bytes', '\u0000\u0001'],
] as const)
  test(`whoever answers with ${name} is no model server`, async () => {
    const double = await kept(startNeighbour((_, response) => response.writeHead(200).end(answer)));
    assert.equal(await foundAt(double), undefined);
  });

test('errors, closed ports and silence are nobody, and who is silent does not keep the others away', async () => {
  const failing = await kept(
    startNeighbour((_, response) => response.writeHead(500).end('{"object":"list","data":[]}')),
  );
  const silent = await kept(startNeighbour(() => undefined));
  const there = await kept(startModelServer('vllm', ['m']));
  const ports = [failing.port, await freePort(), silent.port, there.port];
  const found = await findModelServers(ports.map((port) => ({ port, path: '/v1/models' })));
  assert.deepEqual(
    found.map(({ baseUrl }) => baseUrl),
    [`${there.origin}/v1`],
  );
});

test('the platform’s own ports are not asked', async () => {
  const own = await kept(startModelServer('vllm', ['m']));
  assert.deepEqual(await findModelServers([{ port: own.port, path: '/v1/models' }], [String(own.port)]), []);
  assert.deepEqual(own.seen, []);
});
