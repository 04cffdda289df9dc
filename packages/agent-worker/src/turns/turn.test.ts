// What a turn writes down of calls, tokens and sizes, with a model and tools that the tests play.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Api, type AssistantMessage, createAssistantMessageEventStream, type Model } from '@earendil-works/pi-ai';
import { agents } from '@platform/contract/agents';
import type { Session } from '../sessions/session.ts';
import { openSessionStore } from '../sessions/session-store.ts';
import { type OfferedTool, OutcomeUnknown } from '../tools/agent-tool.ts';
import type { AskedModel } from './model.ts';
import type { ModelRefusal } from './problem-of.ts';
import { runTurn, type Share, type TurnEnd } from './turn.ts';

const now = () => new Date('2026-11-28T12:00:00Z');
const none = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
const uncounted = { ...none, totalTokens: 0, cost: none };
const call = { type: 'toolCall' as const, id: 'call-1', name: 'tool', arguments: {} };

/** A FAKE model, which answers one after the other and counts no tokens. */
function playing(...answers: readonly AssistantMessage['content'][]): AskedModel {
  const left = [...answers];
  const model: Model<Api> = {
    ...{ id: 'm', name: 'm', api: 'openai-completions', provider: 'platform', baseUrl: 'http://gateway' },
    ...{ reasoning: false, input: ['text'], cost: none, contextWindow: 1, maxTokens: 1 },
  };
  return {
    ...{ model, refusal: () => undefined },
    stream() {
      const content = left.shift() ?? [{ type: 'text', text: 'Done.' }];
      const stopReason = content.some(({ type }) => type === 'toolCall') ? 'toolUse' : 'stop';
      const message: AssistantMessage = {
        ...{ role: 'assistant', api: 'openai-completions', provider: 'platform', model: 'm', usage: uncounted },
        ...{ content, stopReason, timestamp: 0 },
      };
      const stream = createAssistantMessageEventStream();
      stream.push({ type: 'done', reason: stopReason, message });
      return stream;
    },
  };
}

function toolOf(run: OfferedTool['call']): OfferedTool {
  return { name: 'tool', tool: 'app.tool', description: '', inputSchema: { type: 'object' }, asks: false, call: run };
}

function sessionOf(t: TestContext, text = 'Hello.'): Session {
  const volume = mkdtempSync(join(tmpdir(), 'agent-turn-'));
  t.after(() => rmSync(volume, { recursive: true }));
  const { session } = openSessionStore(volume, now).create();
  session.append('message', { message: 'm', turn: 't', role: 'user', text }, [
    { role: 'user', content: text, timestamp: 0 },
  ]);
  return session;
}

function turn(
  session: Session,
  asked: AskedModel,
  tools: readonly OfferedTool[],
  { over, share }: { readonly over?: AbortSignal; readonly share?: Share } = {},
): Promise<TurnEnd> {
  const signal = over ?? new AbortController().signal;
  const parts = { session, turn: 't', asked, tools, signal, instructions: '', maxToolCalls: 3, now: now() };
  return runTurn({ ...parts, ...(share === undefined ? {} : { share }) });
}

function resultOf({ lines }: Session) {
  const line = lines.find((one) => one.event === 'tool.result');
  assert.ok(line?.event === 'tool.result');
  const [message] = line.context ?? [];
  return { ...line.data, forModel: JSON.stringify(message?.content) };
}

test('a call that comes to no result may have taken effect, and a refused one has not', async (t) => {
  const lost = sessionOf(t);
  await turn(lost, playing([call]), [toolOf(() => Promise.reject(new OutcomeUnknown(new Error('ECONNRESET'))))]);
  assert.match(resultOf(lost).text, /^\[Note of the platform: .*may have taken effect or not/);
  assert.doesNotMatch(resultOf(lost).forModel, /foreign-text/);
  const over = new AbortController();
  const stopped = sessionOf(t);
  const waits = toolOf(async () => {
    over.abort('cancelled');
    throw new Error('This operation was aborted');
  });
  await turn(stopped, playing([call]), [waits], { over: over.signal });
  assert.match(resultOf(stopped).text, /may have taken effect or not/);
  assert.ok(resultOf(stopped).isError);
  const refused = sessionOf(t);
  await turn(refused, playing([call]), [toolOf(() => Promise.reject(new Error('No such note.')))]);
  assert.equal(resultOf(refused).text, 'No such note.');
  assert.match(resultOf(refused).forModel, /foreign-text/);
});

test('tokens are estimated where the provider does not count them', async (t) => {
  const { usage } = await turn(sessionOf(t, 'x'.repeat(30_000)), playing(), []);
  assert.ok(usage.tokens > 10_000 && usage.tokens < 12_000, String(usage.tokens));
});

test('what the person sees of a result is as clean as what the model gets', async (t) => {
  const session = sessionOf(t);
  await turn(session, playing([call]), [toolOf(async () => ({ text: 'a\u202eb\u0000c', isError: false }))]);
  assert.equal(resultOf(session).text, 'abc');
});

test('a turn ends when its session is full, and calls nothing more', async (t) => {
  const session = sessionOf(t);
  let calls = 0;
  const fills = toolOf(async () => {
    calls += 1;
    const text = 'y'.repeat(agents.limits.agentSessionSize.value);
    session.append('message', { message: 'm', turn: 't', role: 'assistant', text });
    return { text: 'Filled.', isError: false };
  });
  const both = [call, { ...call, id: 'call-2' }];
  const { problem } = await turn(session, playing(both, [call], [call]), [fills]);
  assert.deepEqual([problem?.code, calls], ['agent_session_full', 1]);
});

test('calls of tools that do not exist count', async (t) => {
  const unknown = { ...call, name: 'nothing' };
  const { limit, usage } = await turn(sessionOf(t), playing([unknown, unknown], [unknown, unknown], [unknown]), []);
  assert.deepEqual([limit, usage.toolCalls], ['toolCalls', 4]);
});

/** A FAKE model: the Gateway or the provider refuses, or the connection breaks. */
function failing(refusal: ModelRefusal | undefined): AskedModel {
  return {
    ...playing(),
    refusal: () => refusal,
    stream() {
      const stream = createAssistantMessageEventStream();
      const error: AssistantMessage = {
        ...{ role: 'assistant', api: 'openai-completions', provider: 'platform', model: 'm', usage: uncounted },
        ...{ content: [], stopReason: 'error', errorMessage: 'no', timestamp: 0 },
      };
      stream.push({ type: 'error', reason: 'error', error });
      return stream;
    },
  };
}

test('a call that was refused costs its profile nothing; one that broke off may have cost', async (t) => {
  const spent = async (refusal: ModelRefusal | undefined) => {
    const counted: number[] = [];
    const share: Share = { problem: () => undefined, spend: (tokens) => void counted.push(tokens) };
    const { problem, usage } = await turn(sessionOf(t, 'x'.repeat(30_000)), failing(refusal), [], { share });
    assert.ok(problem !== undefined);
    return [usage.tokens, counted.reduce((sum, one) => sum + one, 0)];
  };
  for (const status of [400, 401, 403, 429, 503])
    assert.deepEqual(await spent({ status, code: undefined, detail: undefined }), [0, 0], String(status));
  const [tokens, counted] = await spent(undefined);
  assert.ok(tokens === counted && Number(tokens) > 10_000, String(tokens));
});

test('a turn ends when its profile is deleted, and says so', async (t) => {
  const gone = { code: 'agent_gone', message: 'x' };
  const share: Share = { problem: () => gone, spend: () => undefined };
  const done = toolOf(async () => ({ text: 'Done.', isError: false }));
  const { problem } = await turn(sessionOf(t), playing([call], [call]), [done], { share });
  assert.equal(problem?.code, 'agent_gone');
});
