// An agent hands in whole files as arguments of calls: they reach the hub as they are, its session can still be read, and its model is
// never asked with more than fits.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Grant, limits, type MadeSource } from '@platform/contract';
import { accept, appFiles, waiting } from '../../../packages/core/test-support/made-apps.ts';
import { type AgentWorld, startAgentWorld, type TestAgent } from '../../support/agent-world.ts';
import type { Played } from '../../support/turn-provider.ts';
import { until } from '../../support/wait.ts';

const GRANTS: Grant[] = [
  { id: 'intelligence.use', resources: ['openai:*'] },
  { id: 'mcp.tools.call', resources: ['platform-apps.*'] },
  { id: 'apps.create', resources: ['*'] },
];
/** As large as a call may be, about. */
const FILE = 'x'.repeat(limits.toolArguments.value - 4_000);

let world: AgentWorld;
let agent: TestAgent;
before(async () => {
  world = await startAgentWorld();
  agent = await world.install('author', { permissions: GRANTS });
  // What is critical is only granted by name.
  await world.account.browser.take('/v1/apps/author/permissions', { method: 'PUT', body: { permissions: GRANTS } });
});
after(() => world?.close());

const callOf = (tool: string, given: object): Played => ({
  calls: [{ name: `platform-apps_${tool}`, arguments: given }],
});

/** One call after the other, since the person said something. */
function play(steps: readonly Played[]): void {
  world.provider.play(({ messages }) => {
    const since = messages.slice(messages.findLastIndex(({ role }) => role === 'user'));
    return steps[since.filter(({ role }) => role === 'tool').length] ?? { text: 'Done.' };
  });
}

test('files as large as a call may hold are handed in, one call after the other', async () => {
  const appId = 'written';
  const steps: readonly Played[] = [
    callOf('create', { appId, files: { ...appFiles(appId), 'frontend/a.js': FILE } }),
    callOf('change', { appId, files: { 'frontend/b.js': FILE } }),
    callOf('change', { appId, files: { 'frontend/c.js': FILE } }),
    callOf('source', { appId }),
  ];
  play(steps);
  const events = await agent.turn(await agent.newSession(), 'Write a lot.');
  const results = events.filter((one) => one.event === 'tool.result');
  assert.deepEqual(
    results.map(({ data }) => data.isError),
    [false, false, false, false],
    JSON.stringify(results.map(({ data }) => data.text.slice(0, 200))),
  );
  const source = JSON.parse(results.at(-1)?.data.text ?? '') as MadeSource;
  assert.deepEqual(
    source.files.filter(({ bytes }) => bytes === FILE.length).map(({ path }) => path),
    ['frontend/a.js', 'frontend/b.js', 'frontend/c.js'],
  );
  assert.ok(JSON.stringify(events).length < 64 * 1_024, 'the session can be read');
  const shown = events.find((one) => one.event === 'tool.call');
  assert.match(JSON.stringify(shown?.data.arguments), /characters more are left out/);
  for (const { messages } of world.provider.asked) {
    const size = JSON.stringify(messages).length;
    assert.ok(size < limits.agentContextTokens.value * 3 + FILE.length, `the model was asked with ${size} characters`);
  }
  const last = JSON.stringify(world.provider.asked.at(-1)?.messages);
  assert.match(last, /This text is left out, since the conversation is long/);
});

test('it reads what the backend of its app writes, and nothing of another app', async () => {
  const appId = 'talking';
  const workload = { runtime: 'node', entry: 'main.js', resources: { memoryMiB: 128 } };
  const script = "console.log('the fern is dry'); require('node:http').createServer().listen(process.env.PORT);";
  const files = appFiles(appId, { workload }, { 'workload/main.js': script });
  play([callOf('create', { appId, files })]);
  await agent.turn(await agent.newSession(), 'Make it.');
  const { account } = world;
  const draft = (await waiting(account)).find((one) => one.appId === appId);
  assert.equal((await accept(account, draft?.id ?? '', { hash: draft?.hash })).status, 200);
  await account.browser.take(`/v1/apps/${appId}/start`, { method: 'POST' });
  const session = await agent.newSession();
  await until('what it wrote', async () => {
    play([callOf('log', { appId }), callOf('log', { appId: 'author' })]);
    const events = await agent.turn(session, 'What does it say?');
    const [own, other] = events.filter((one) => one.event === 'tool.result');
    assert.match(other?.data.text ?? '', /^not_found: You made no app with the id author/);
    return own?.data.text.includes('the fern is dry') ? true : undefined;
  });
});
