// Profiles of an agent in a real sandbox, behind a real Gateway and a real core: their tools, words, models and shares, also across kills;
// and the search over sessions.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { AgentAnswer, AgentProfile, AgentSession, AgentSessionsFound } from '@platform/contract';
import { type AgentWorld, startAgentWorld, type TestAgent } from '../../support/agent-world.ts';
import { publishTestApp } from '../../support/publish.ts';
import { problemCode } from '../../support/raw-http.ts';
import { until } from '../../support/wait.ts';
import { bundleWorkload } from '../tools/bundle-workload.ts';

let world: AgentWorld;
let agent: TestAgent;

before(async () => {
  world = await startAgentWorld();
  const workload = { runtime: 'node', entry: 'main.mjs', mcp: { path: '/mcp' }, resources: { memoryMiB: 256 } };
  const files = { 'workload/main.mjs': await bundleWorkload('../agents/tools-workload.ts'), 'frontend/index.html': '' };
  const serve = { id: 'mcp.tools.serve', resources: ['self'] };
  await publishTestApp(world.account, 'notes', { workload, permissions: [serve] }, files);
  await world.account.browser.take('/v1/apps', { body: { appId: 'notes' } });
  agent = await world.install('many', { agent: { webSearch: true } });
});
after(async () => {
  await world?.close();
});

async function newProfile(more: object): Promise<AgentProfile> {
  const { status, text, json } = await agent.ask('POST', '/profiles', { name: 'Helper', ...more });
  assert.equal(status, 201, text);
  return (json as { profile: AgentProfile }).profile;
}

async function sessionWith(profile: string, more: object = {}): Promise<AgentSession> {
  const { status, text, json } = await agent.ask('POST', '/sessions', { profile, ...more });
  assert.equal(status, 201, text);
  return (json as { session: AgentSession }).session;
}

const asked = () => {
  const last = world.provider.asked.at(-1);
  assert.ok(last !== undefined);
  return { model: last.model, tools: last.tools.map(({ name }) => name), system: JSON.stringify(last.messages[0]) };
};

async function failureOf(session: string, text: string) {
  const events = await agent.turn(session, text);
  const failed = events.find((one) => one.event === 'failed');
  return failed?.event === 'failed' ? failed.data.error.code : undefined;
}

test('a profile has its own tools, words and model, and no others', async () => {
  world.provider.play(() => ({ text: 'Yes.' }));
  await agent.turn(await agent.newSession(), 'Hello.');
  assert.ok(asked().tools.includes('notes_add') && asked().tools.includes('web_search'));
  const model = { provider: 'openai', id: 'other' };
  const wanted = { tools: ['notes.count', 'gone.tool'], instructions: 'Speak like a pirate.', webSearch: false, model };
  const { id } = await newProfile(wanted);
  const session = await sessionWith(id);
  await agent.turn(session.id, 'Hello.');
  assert.deepEqual([asked().tools, asked().model], [['notes_count'], 'other']);
  assert.match(asked().system, /Keep the notes of your person.*Speak like a pirate\./s);
  // What it calls all the same is not there.
  world.provider.play(({ messages }) =>
    messages.at(-1)?.role === 'user' ? { calls: [{ name: 'notes_add', arguments: { note: 'x' } }] } : { text: 'No.' },
  );
  const events = await agent.turn(session.id, 'Add a note.');
  const result = events.find((one) => one.event === 'tool.result');
  assert.ok(result?.event === 'tool.result' && result.data.isError);
  const gone = await newProfile({ model: { provider: 'nobody', id: 'other' } });
  assert.equal(await failureOf((await sessionWith(gone.id)).id, 'Hello.'), 'model_gone');
});

test('one that proposes can ask what became of it, whatever else it may use', async () => {
  const proposer = await world.install('proposing', {
    permissions: [
      { id: 'intelligence.use', resources: ['openai:*'] },
      { id: 'mcp.tools.propose', resources: ['notes.*'] },
    ],
  });
  world.provider.play(() => ({ text: 'Yes.' }));
  const toolsWith = async (tools: readonly string[]) => {
    const profile = (await proposer.ask('POST', '/profiles', { name: 'x', tools })).json as { profile: AgentProfile };
    const made = await proposer.ask('POST', '/sessions', { profile: profile.profile.id });
    await proposer.turn((made.json as { session: AgentSession }).session.id, 'Hello.');
    return asked().tools;
  };
  const ofProposals = ['cancel', 'get', 'list'].map((verb) => `platform-proposals_${verb}`);
  assert.deepEqual((await toolsWith(['notes.add'])).toSorted(), ['notes_add', ...ofProposals]);
  assert.deepEqual(await toolsWith([]), []);
});

test('what a person can choose from is said', async () => {
  const { agent: described } = (await agent.ask('GET', '')).json as AgentAnswer;
  assert.deepEqual(described.models, [{ provider: 'openai', id: 'scripted' }]);
});

test('a share is used up by its own profile alone, and stays so across a kill', async () => {
  world.provider.play(() => ({ text: 'Yes.', tokens: 100 }));
  const { id } = await newProfile({ monthlyTokens: 150 });
  const session = (await sessionWith(id)).id;
  assert.equal(await failureOf(session, 'One.'), undefined);
  assert.equal(await failureOf(session, 'Two, which passes it.'), undefined);
  const worker = agent.process();
  assert.ok(worker !== undefined);
  process.kill(worker.pid, 'SIGKILL');
  await until('its end', () => !worker.alive());
  await until('the agent is back', async () => (await agent.ask('GET', '/sessions')).status === 200);
  const calls = world.provider.asked.length;
  assert.equal(await failureOf(session, 'Three.'), 'share_exhausted');
  assert.equal(world.provider.asked.length, calls, 'the model is not asked');
  assert.equal(await failureOf(await agent.newSession(), 'Another one.'), undefined);
  const { items } = (await agent.ask('GET', '/profiles')).json as { items: AgentProfile[] };
  assert.equal(items.find((one) => one.id === id)?.usage.tokens, 200);
});

test('a turn ends when its share does, between two calls of the model', async () => {
  world.provider.play(() => ({ calls: [{ name: 'notes_count', arguments: {} }], tokens: 100 }));
  const { id } = await newProfile({ monthlyTokens: 250 });
  const session = (await sessionWith(id)).id;
  assert.equal(await failureOf(session, 'Count for ever.'), 'share_exhausted');
  const events = await agent.events(session);
  assert.equal(events.filter(({ event }) => event === 'tool.call').length, 3);
});

test('a session whose profile is deleted takes no message, and branches with another one', async () => {
  world.provider.play(() => ({ text: 'Yes.' }));
  const { id } = await newProfile({ tools: [] });
  const session = (await sessionWith(id)).id;
  await agent.turn(session, 'First.');
  assert.equal((await agent.ask('DELETE', `/profiles/${id}`)).status, 204);
  const refused = await agent.say(session, 'Second.');
  assert.deepEqual([refused.status, problemCode(refused)], [409, 'agent_gone']);
  assert.equal((await agent.events(session)).length, 3, 'what was said stays');
  const branch = { session, sequence: 1 };
  const same = (await agent.ask('POST', '/sessions', { branch })).json as { session: AgentSession };
  assert.equal(problemCode(await agent.say(same.session.id, 'Again.')), 'agent_gone');
  const other = await sessionWith('main', { branch });
  assert.equal(await failureOf(other.id, 'Again.'), undefined);
});

test('sessions are renamed, and found by what was said in them', async () => {
  world.provider.play(() => ({ text: 'The Quokka smiles.' }));
  const session = await agent.newSession();
  await agent.turn(session, 'Which animal smiles?');
  assert.equal((await agent.ask('PATCH', `/sessions/${session}`, { title: 'Animals' })).status, 200);
  const found = async (query: string) =>
    (await agent.ask('GET', `/sessions?${new URLSearchParams({ query })}`)).json as AgentSessionsFound;
  const { items, complete } = await found('smiles quokka');
  assert.deepEqual(
    items.map(({ id, title, match }) => [id, title, match]),
    [[session, 'Animals', { sequence: 2, excerpt: 'The Quokka smiles.' }]],
  );
  assert.equal(complete, true);
  assert.equal((await found('animals')).items[0]?.match, null);
  assert.deepEqual((await found('wallaby')).items, []);
});

test('bad profiles, searches and titles are refused in words', async () => {
  const session = await agent.newSession();
  const none = 'pro-00000000-0000-4000-8000-000000000000';
  const profile = { name: 'x' };
  const cases: readonly (readonly [string, string, unknown, number, string])[] = [
    ['POST', '/profiles', { name: '' }, 400, 'invalid_request'],
    ['POST', '/profiles', {}, 400, 'invalid_request'],
    ['POST', '/profiles', { name: 'x'.repeat(61) }, 400, 'invalid_request'],
    ['POST', '/profiles', { name: 'x', instructions: 'é'.repeat(5_000) }, 400, 'invalid_request'],
    ['POST', '/profiles', { name: 'x', tools: Array(129).fill('a.b') }, 400, 'invalid_request'],
    ['POST', '/profiles', { name: 'x', monthlyTokens: -1 }, 400, 'invalid_request'],
    ['POST', '/profiles', { name: 'x', monthlyTokens: 1.5 }, 400, 'invalid_request'],
    ['POST', '/profiles', { name: 'x', usage: { month: '2026-11', tokens: 0 } }, 400, 'invalid_request'],
    ['PUT', `/profiles/${none}`, profile, 404, 'not_found'],
    ['DELETE', `/profiles/${none}`, undefined, 404, 'not_found'],
    ['DELETE', '/profiles/main', undefined, 400, 'invalid_request'],
    ['PUT', '/profiles/../../etc', profile, 400, 'invalid_path'],
    ['PATCH', '/profiles/main', profile, 405, 'method_not_allowed'],
    ['POST', '/sessions', { profile: none }, 404, 'not_found'],
    ['POST', '/sessions', { profile: 'other' }, 400, 'invalid_request'],
    ['PATCH', `/sessions/${session}`, { title: ' ' }, 400, 'invalid_request'],
    ['PATCH', `/sessions/${session}`, { title: 'x'.repeat(81) }, 400, 'invalid_request'],
    ['PATCH', `/sessions/${session}`, { title: 'x', state: 'idle' }, 400, 'invalid_request'],
    ['GET', `/sessions?query=${'x'.repeat(201)}`, undefined, 400, 'invalid_request'],
    ['GET', '/sessions?words=x', undefined, 400, 'invalid_request'],
  ];
  for (const [method, path, body, status, code] of cases) {
    const answer = await agent.ask(method, path, body);
    assert.deepEqual([answer.status, problemCode(answer)], [status, code], `${method} ${path}`);
  }
});
