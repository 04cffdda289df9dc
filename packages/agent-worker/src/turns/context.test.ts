// What the model sees of a session: always something that a provider takes, and never more than fits.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '@earendil-works/pi-ai';
import { fitting, UNKNOWN_OUTCOME, withAllResults } from './context.ts';

const user = (content: string): Message => ({ role: 'user', content, timestamp: 0 });
const usage = {
  ...{ input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 },
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};
const calls = (...ids: string[]): Message => ({
  ...{ role: 'assistant', api: 'openai-completions', provider: 'platform', model: 'm', usage },
  ...{ stopReason: 'toolUse', timestamp: 0 },
  content: ids.map((id) => ({ type: 'toolCall', id, name: 'tool', arguments: {} })),
});
const result = (toolCallId: string, text = 'fine'): Message => ({
  ...{ role: 'toolResult', toolCallId, toolName: 'tool', isError: false, timestamp: 0 },
  content: [{ type: 'text', text }],
});
const textsOf = (messages: readonly Message[]) => messages.map(({ content }) => JSON.stringify(content));

test('calls without a result get one that says so, before anything else is said', () => {
  const messages = withAllResults([user('a'), calls('1', '2'), result('1'), user('b'), calls('3')]);
  assert.deepEqual(
    messages.map(({ role }) => role),
    ['user', 'assistant', 'toolResult', 'toolResult', 'user', 'assistant', 'toolResult'],
  );
  assert.ok(textsOf(messages)[3]?.includes(UNKNOWN_OUTCOME));
  assert.ok(textsOf(messages)[6]?.includes(UNKNOWN_OUTCOME));
});

test('a session that is too long loses its oldest exchanges whole, and the model is told', () => {
  const system: Message = { role: 'system', content: 'rules', timestamp: 0 };
  const long = 'x'.repeat(400);
  const messages = [system, user(`old ${long}`), calls('1'), result('1', long), user(`new ${long}`)];
  const kept = fitting(messages, 200);
  assert.deepEqual(
    kept.map(({ role }) => role),
    ['system', 'user'],
  );
  assert.match(textsOf(kept)[1] ?? '', /earlier messages .* are left out.*new x/);
  assert.deepEqual(fitting(messages, 10_000), messages);
});

test('an exchange that is too long by itself loses its oldest results', () => {
  const long = 'x'.repeat(4_000);
  const kept = fitting([user('do'), calls('1'), result('1', long), calls('2'), result('2', long)], 1_800);
  const texts = textsOf(kept);
  assert.match(texts[2] ?? '', /left out/);
  assert.match(texts[4] ?? '', /xxxx/);
  assert.equal(kept.length, 5);
});

test('long arguments of earlier calls go as well, and those of the last one stay', () => {
  const long = 'x'.repeat(4_000);
  const writes = (id: string): Message => {
    const message = calls(id);
    const content = [{ type: 'toolCall', id, name: 'write', arguments: { files: { a: long, b: 'short' } } }];
    return { ...message, content } as Message;
  };
  const texts = textsOf(fitting([user('do'), writes('1'), result('1'), writes('2'), result('2')], 1_800));
  assert.match(texts[1] ?? '', /"a":"\[This text is left out.*","b":"short"/);
  assert.match(texts[3] ?? '', /xxxx/);
});

test('text of other scripts is not taken for shorter than it is', () => {
  const messages = [user('an'), user('猫'.repeat(1_000)), user('end')];
  assert.equal(fitting(messages, 1_000).length, 1);
  assert.equal(fitting(messages, 1_100).length, 3);
});
