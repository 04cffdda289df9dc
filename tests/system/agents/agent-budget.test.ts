// What an agent says when it cannot answer, and that its budget holds although its process is killed again and again.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { AgentAnswer, AppIntelligence } from '@platform/contract';
import { type AgentWorld, startAgentWorld, type TestAgent } from '../../support/agent-world.ts';
import { until } from '../../support/wait.ts';

/** For two or three model calls: a backend that ends more often is left alone for a while. */
const BUDGET = 1_700;

let world: AgentWorld;

before(async () => {
  world = await startAgentWorld({ monthlyTokens: BUDGET }, ['keyless']);
});
after(async () => {
  await world?.close();
});

const using = (...resources: string[]) => ({ permissions: [{ id: 'intelligence.use' as const, resources }] });

async function failureOf(agent: TestAgent) {
  const events = await agent.turn(await agent.newSession(), 'Hello?');
  const failed = events.find((one) => one.event === 'failed');
  assert.ok(failed?.event === 'failed' && events.at(-1)?.event === 'idle');
  return failed.data.error;
}

test('without a provider it says what to do, to the person and to the operator', async () => {
  const agent = await world.install('lonely', using('nobody:*'));
  const error = await failureOf(agent);
  assert.equal(error.code, 'no_provider');
  assert.match(error.message, /Settings → Apps.*ask its operator/s);
  assert.match(error.operator ?? '', /PLATFORM_INTELLIGENCE_FILE/);
  const { agent: shown } = (await agent.ask('GET', '')).json as AgentAnswer;
  assert.deepEqual([shown.model, shown.problem], [null, error]);
});

test('without a key, and for a model that it may not use, it says where to change that', async () => {
  const keyless = { model: { provider: 'keyless', id: 'scripted' } };
  const error = await failureOf(await world.install('keyless-agent', { agent: keyless, ...using('keyless:*') }));
  assert.equal(error.code, 'not_authorized');
  assert.match(error.message, /Set yours in Settings/);
  const other = { model: { provider: 'openai', id: 'dear' } };
  const refused = await failureOf(await world.install('modest', { agent: other, ...using('openai:scripted') }));
  assert.equal(refused.code, 'grant_missing');
});

test('a provider that is away for a moment is asked again', async () => {
  const agent = await world.install('patient', using('openai:*'));
  let asked = 0;
  world.provider.play(() => {
    asked += 1;
    return asked === 1 ? { status: 503 } : { text: 'Here.' };
  });
  const events = await agent.turn(await agent.newSession(), 'Hello?');
  assert.deepEqual(
    events.map((one) => (one.event === 'message' ? one.data.text : one.event)),
    ['Hello?', 'Here.', 'idle'],
  );
});

test('kills in the middle of answers do not widen the budget', async () => {
  const agent = await world.install('doomed', using('openai:*'));
  const held = Promise.withResolvers<void>();
  world.provider.play(() => ({ text: 'It begins, and never ends.', hold: held.promise }));
  const session = await agent.newSession();
  const usage = async () => (await world.account.browser.take<AppIntelligence>('/v1/apps/doomed/intelligence')).usage;
  const failure = async () => (await agent.events(session)).findLast((one) => one.event === 'failed');
  let kills = 0;
  for (; ; kills += 1) {
    const before = world.provider.asked.length;
    assert.equal((await agent.say(session, `Attempt ${kills}.`)).status, 202);
    const code = await until('the model is asked, or the budget gone', async () => {
      const last = await failure();
      if (last?.event === 'failed' && last.data.error.code === 'budget_exhausted') return 'gone';
      return world.provider.asked.length > before ? 'asked' : undefined;
    });
    if (code === 'gone') break;
    const worker = agent.process();
    assert.ok(worker !== undefined);
    process.kill(worker.pid, 'SIGKILL');
    await until('its end', () => !worker.alive());
    await until('the call is settled', async () => (await usage()).reserved === 0);
    await until('the agent is back', async () => (await agent.ask('GET', '/sessions')).status === 200);
  }
  held.resolve();
  assert.ok(kills > 0);
  const last = await failure();
  assert.ok(last?.event === 'failed' && last.data.error.code === 'budget_exhausted');
  assert.match(last.data.error.message, /budget of this month/);
  const { tokens, reserved } = await usage();
  assert.ok(tokens + reserved <= BUDGET, `${tokens} and ${reserved} of ${BUDGET}`);
  assert.ok(tokens > BUDGET / 2, `only ${tokens} were counted`);
});
