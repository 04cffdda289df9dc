// Whoever hears no answer asks again: a session that was begun is begun once, and a message that was taken is taken once.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type AgentSession, agentManifest } from '@platform/contract/agents';
import { openOwnProposals } from '../profiles/own-proposals.ts';
import { openProfileStore } from '../profiles/profile-store.ts';
import { openSessionStore } from '../sessions/session-store.ts';
import { openAgent } from '../turns/agent.ts';
import { createStreams } from './events.ts';
import { agentRoutes } from './routes.ts';
import { createAgentServer } from './server.ts';

const now = () => new Date('2026-11-28T12:00:00Z');

async function startAgent(t: TestContext) {
  const volume = mkdtempSync(join(tmpdir(), 'agent-repeated-'));
  const [store, profiles] = [openSessionStore(volume, now), openProfileStore(volume, now)];
  const agent = openAgent({
    platform: { origin: 'http://gateway', token: 'pgw_test', fetch: () => Promise.reject(new Error('no')) },
    order: { manifest: agentManifest.parse({ instructions: 'instructions.md' }), providers: [] },
    ...{ instructions: '', store, profiles, proposals: openOwnProposals(volume), now },
  });
  const server = createAgentServer(agentRoutes({ agent, store, profiles, streams: createStreams(store) }));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(async () => {
    await agent.stop();
    server.close();
    rmSync(volume, { recursive: true });
  });
  const ask = async (method: string, path: string, body: object = {}) => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/agent/sessions${path}`;
    const headers = { 'content-type': 'application/json', connection: 'close' };
    const answer = await fetch(url, { method, headers, body: JSON.stringify(body) });
    const json = (await answer.json()) as { readonly code?: string; readonly session?: AgentSession };
    return { status: answer.status, code: json.code, id: json.session?.id };
  };
  return { store, agent, ask };
}

test('a session is begun once with one id', async (t) => {
  const { store, ask } = await startAgent(t);
  const id = `ses-${randomUUID()}`;
  const answers = [await ask('POST', '', { id }), await ask('POST', '', { id })];
  assert.deepEqual(answers, [
    { status: 201, code: undefined, id },
    { status: 200, code: undefined, id },
  ]);
  assert.equal(store.list().length, 1);
  assert.equal((await ask('POST', '', { id: 'ses-x' })).code, 'invalid_request');
});

test('a message is taken once with one id, also while its turn is under way and after it', async (t) => {
  const { store, agent, ask } = await startAgent(t);
  const { id = '' } = await ask('POST', '');
  const body = { text: 'Hello.', message: randomUUID() };
  const said = () =>
    store.open(id).session.lines.filter(({ event, data }) => event === 'message' && data.role === 'user');
  const repeated = await Promise.all([1, 2, 3].map(() => ask('POST', `/${id}/messages`, body)));
  await agent.cancel(id);
  repeated.push(await ask('POST', `/${id}/messages`, body));
  assert.deepEqual(
    repeated.map(({ status }) => status),
    [202, 202, 202, 202],
  );
  assert.equal(said().length, 1);
  assert.equal((await ask('POST', `/${id}/messages`, { ...body, message: randomUUID() })).status, 202);
  await agent.cancel(id);
  assert.equal(said().length, 2, 'the same words may be said again');
  assert.equal((await ask('POST', `/${id}/messages`, { ...body, message: 'm' })).code, 'invalid_request');
});

test('a branch that was begun half is whole when it is asked for again, and copies nothing twice', async (t) => {
  const { store, ask } = await startAgent(t);
  const source = store.create();
  for (const text of ['One.', 'Two.'])
    source.session.append('message', { message: text, turn: 't', role: 'user', text });
  const id = `ses-${randomUUID()}`;
  // As a process leaves it that ends before the lines are copied.
  store.create('main', id)[Symbol.dispose]();
  const branch = { session: source.session.card.id, sequence: 2 };
  for (let count = 0; count < 2; count += 1) assert.equal((await ask('POST', '', { id, branch })).status, 200);
  assert.deepEqual(
    store.open(id).session.lines.map(({ data }) => 'text' in data && data.text),
    ['One.'],
  );
});
