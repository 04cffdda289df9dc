// A disk that is full: the agent starts, refuses in words, and goes on when there is room again.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs, { mkdtempSync, rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type AgentOrder, agentManifest } from '@platform/contract/agents';
import { createStreams } from '../http/events.ts';
import { agentRoutes } from '../http/routes.ts';
import { createAgentServer } from '../http/server.ts';
import type { Platform } from '../platform/platform.ts';
import { openOwnProposals } from '../profiles/own-proposals.ts';
import { openProfileStore, type ProfileStore } from '../profiles/profile-store.ts';
import { openSessionStore, type SessionStore } from '../sessions/session-store.ts';
import { type Agent, openAgent } from './agent.ts';

/** Without a provider, every turn of it ends at once. */
const order: AgentOrder = { manifest: agentManifest.parse({ instructions: 'instructions.md' }), providers: [] };
const platform: Platform = {
  origin: 'http://gateway',
  token: 'pgw_test',
  fetch: () => Promise.reject(new Error('no')),
};
const now = () => new Date('2026-11-28T12:00:00Z');

function volumeOf(t: TestContext): string {
  const volume = mkdtempSync(join(tmpdir(), 'agent-full-'));
  t.after(() => rmSync(volume, { recursive: true }));
  return volume;
}

function start(volume: string): {
  readonly store: SessionStore;
  readonly profiles: ProfileStore;
  readonly agent: Agent;
} {
  const store = openSessionStore(volume, now);
  const profiles = openProfileStore(volume, now);
  return {
    store,
    profiles,
    agent: openAgent({ platform, order, instructions: '', store, profiles, proposals: openOwnProposals(volume), now }),
  };
}

/** Nothing that is written reaches this disk, from now on. @returns there is room again */
function fill(t: TestContext): () => void {
  const full = () => {
    throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
  };
  const mocks = [t.mock.method(fs, 'fsyncSync', full), t.mock.method(fs, 'fdatasyncSync', full)];
  syncBuiltinESMExports();
  const free = () => {
    for (const { mock } of mocks) mock.restore();
    syncBuiltinESMExports();
  };
  t.after(free);
  return free;
}

/** A session whose turn a crash interrupted. */
function interrupted(volume: string): string {
  const { session } = openSessionStore(volume, now).create();
  session.setTurn('turn-1');
  session.append('message', { message: 'm', turn: 'turn-1', role: 'user', text: 'Hello.' });
  return session.card.id;
}

function eventsOf(store: SessionStore, id: string): string[] {
  using use = store.open(id);
  return use.session.lines.map(({ event, data }) => (event === 'idle' ? data.reason : event));
}

test('an agent starts on a full disk, and says of an interrupted turn that it was when there is room', async (t) => {
  const volume = volumeOf(t);
  const id = interrupted(volume);
  const free = fill(t);
  const { store, agent } = start(volume);
  assert.deepEqual(
    store.list().map(({ turn }) => turn),
    [null],
  );
  assert.throws(() => agent.say(id, 'Again.'), { code: 'ENOSPC' });
  free();
  agent.say(id, 'Again.');
  await agent.cancel(id);
  assert.deepEqual(eventsOf(store, id).slice(0, 4), ['message', 'failed', 'interrupted', 'message']);
});

test('a turn whose end was written down is not said to be interrupted', (t) => {
  const volume = volumeOf(t);
  const id = interrupted(volume);
  const usage = { toolCalls: 0, tokens: 0 };
  openSessionStore(volume, now).open(id).session.append('idle', { turn: 'turn-1', reason: 'done', usage });
  assert.deepEqual(eventsOf(start(volume).store, id), ['message', 'done']);
  assert.equal(openSessionStore(volume, now).interrupted.size, 0);
});

test('a session that cannot be opened does not keep the others from being used', (t) => {
  const volume = volumeOf(t);
  const broken = interrupted(volume);
  const whole = interrupted(volume);
  rmSync(join(volume, 'sessions', `${broken}.jsonl`));
  fs.mkdirSync(join(volume, 'sessions', `${broken}.jsonl`));
  assert.deepEqual(eventsOf(start(volume).store, whole), ['message', 'failed', 'interrupted']);
});

test('a message that the disk does not take begins no turn', async (t) => {
  const { store, agent } = start(volumeOf(t));
  using use = store.create();
  const { id } = use.session.card;
  const free = fill(t);
  assert.throws(() => agent.say(id, 'Hello.'), { code: 'ENOSPC' });
  assert.equal(use.session.card.turn, null);
  free();
  agent.say(id, 'Hello.');
  await agent.cancel(id);
  assert.equal(eventsOf(store, id)[0], 'message');
});

test('a turn that the disk fills up under is over, and the next message says so', async (t) => {
  const { store, agent } = start(volumeOf(t));
  using use = store.create();
  const { id } = use.session.card;
  agent.say(id, 'Hello.');
  const free = fill(t);
  await agent.cancel(id);
  assert.equal(use.session.card.turn, null);
  free();
  agent.say(id, 'Again.');
  assert.deepEqual(eventsOf(store, id), ['message', 'failed', 'interrupted', 'message']);
  await agent.cancel(id);
});

test('what a full disk does not take is refused in words, and a branch leaves nothing behind', async (t) => {
  const { store, profiles, agent } = start(volumeOf(t));
  const source = store.create();
  source.session.append('message', { message: 'm', turn: 't', role: 'user', text: 'One.' });
  source.session.append('message', { message: 'm', turn: 't', role: 'user', text: 'Two.' });
  const { id } = source.session.card;
  const server = createAgentServer(agentRoutes({ agent, store, profiles, streams: createStreams(store) }));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => void server.close());
  const post = async (path: string, body: object) => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/agent/sessions${path}`;
    const headers = { 'content-type': 'application/json', connection: 'close' };
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    return [answer.status, ((await answer.json()) as { readonly code?: string }).code];
  };
  assert.deepEqual(await post('', { branch: { session: id, sequence: 3 } }), [400, 'invalid_request']);
  const free = fill(t);
  assert.deepEqual(await post('', {}), [409, 'agent_storage_full']);
  assert.deepEqual(await post(`/${id}/messages`, { text: 'Three.' }), [409, 'agent_storage_full']);
  free();
  // Room for the card, and none for what is copied.
  t.mock.method(fs, 'fdatasyncSync', () => {
    throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
  });
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  assert.deepEqual(await post('', { branch: { session: id, sequence: 2 } }), [409, 'agent_storage_full']);
  assert.deepEqual(
    store.list().map((card) => card.id),
    [id],
  );
  source[Symbol.dispose]();
});
