// What is shown of a session, from its events: calls with what came of them, what was missed, and what is being written.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AgentEvent } from '@platform/sdk/browser';
import { eventsOf, type Heard } from './events.ts';
import { itemsOf, lastTurn, NOTHING, type Thread, withDelta, withEarlier, withEvent, withNewest } from './thread.ts';

const usage = { toolCalls: 0, tokens: 0 };

function events(...some: readonly (readonly [AgentEvent['event'], object])[]): AgentEvent[] {
  return some.map(
    ([event, data], index) =>
      ({ sequence: index + 1, at: '2026-11-28T12:00:00Z', event, data: { turn: 't', ...data } }) as AgentEvent,
  );
}

const user = (text: string) => ['message', { message: `u ${text}`, role: 'user', text }] as const;
const answer = (text: string) => ['message', { message: `a ${text}`, role: 'assistant', text }] as const;
const idle = (reason: string) => ['idle', { reason, usage }] as const;
const thread = (all: readonly AgentEvent[]): Thread => all.reduce(withEvent, NOTHING);

test('a call stands where it was made, with its result, its proposal and its question', () => {
  const all = events(
    user('Add cheese.'),
    ['tool.call', { call: 'c', tool: 'notes.add', arguments: { note: 'cheese' } }],
    ['consent', { call: 'c', query: 'cheese' }],
    ['tool.result', { call: 'c', tool: 'notes.add', isError: false, text: 'kept', cut: false }],
    ['proposal', { call: 'c', proposal: { id: 'prop-1', state: 'pending', tool: 'notes.add', expiresAt: 'later' } }],
    answer('Proposed.'),
    idle('done'),
    user('Again.'),
    ['tool.call', { call: 'c', tool: 'notes.count', arguments: {} }],
  );
  const items = itemsOf(thread(all));
  assert.deepEqual(
    items.map(({ kind }) => kind),
    ['user', 'tool', 'answer', 'user', 'tool'],
  );
  const [first, second] = items.filter((item) => item.kind === 'tool');
  assert.deepEqual(
    [first?.result?.text, first?.proposal?.id, first?.query, first?.isOver],
    ['kept', 'prop-1', 'cheese', true],
  );
  assert.deepEqual(
    [second?.tool, second?.result, second?.isOver],
    ['notes.count', undefined, false],
    'an id of its own turn',
  );
});

test('what is being written grows, is written over after a break, and becomes the message', () => {
  const begun = thread(events(user('Count.')));
  const half = withDelta(begun, { message: 'm', turn: 't', offset: 0, text: 'One two' });
  const more = withDelta(half, { message: 'm', turn: 't', offset: 7, text: ' three' });
  const again = withDelta(more, { message: 'm', turn: 't', offset: 0, text: 'One two three four' });
  assert.deepEqual([more.partial?.text, again.partial?.text], ['One two three', 'One two three four']);
  assert.deepEqual(itemsOf(again).at(-1), { kind: 'answer', key: 'm', text: 'One two three four', isPartial: true });
  const whole = withEvent(again, { ...(events(user('x'), answer('One'))[1] as AgentEvent) });
  assert.equal(whole.partial, undefined);
});

test('events that come twice, or were read before, stand once', () => {
  const all = events(user('a'), answer('b'), idle('done'), user('c'), answer('d'), idle('done'));
  const late = { events: all.slice(3), earlier: true };
  const shown = withNewest(NOTHING, { ...late, state: 'idle' });
  const twice = all.slice(2).reduce(withEvent, shown);
  assert.deepEqual(twice.events, all.slice(3));
  const whole = withEarlier(twice, { events: all.slice(0, 4), earlier: false });
  assert.deepEqual([whole.events, whole.earlier], [all, false]);
  const anew = withNewest(whole, { events: all.slice(2), earlier: true, state: 'idle' });
  assert.deepEqual([anew.events, anew.earlier], [all, false], 'what was read of the beginning stays');
});

test('what was missed in between is not left out: the newest stand alone then', () => {
  const all = events(user('a'), idle('done'), user('b'), idle('done'), user('c'), idle('done'));
  const old = thread(all.slice(0, 2));
  const newest = withNewest(old, { events: all.slice(4), earlier: true, state: 'idle' });
  assert.deepEqual([newest.events, newest.earlier], [all.slice(4), true]);
});

test('a turn that did not end well can be tried again, and one that did cannot', () => {
  for (const [reason, isUnanswered] of [
    ['failed', true],
    ['cancelled', true],
    ['interrupted', true],
    ['done', false],
    ['limit', false],
  ] as const) {
    const found = lastTurn(thread(events(user('Why?'), idle(reason))));
    assert.deepEqual([found.asked?.text, found.isUnanswered], ['Why?', isUnanswered], reason);
  }
});

test('whether it is at work follows from what happened last', () => {
  assert.equal(thread(events(user('a'))).isRunning, true);
  assert.equal(thread(events(user('a'), idle('done'))).isRunning, false);
  const lost = withNewest(NOTHING, { events: events(user('a')), earlier: false, state: 'idle' });
  assert.equal(lost.isRunning, false, 'the agent knows better: its disk may have been full');
});

test('the stream of events is read however it is cut, and comments are none', async () => {
  const [first] = events(user('é'));
  const text = `:\n\nid: 1\nevent: message\ndata: ${JSON.stringify(first?.data)}\n\nevent: message.delta\ndata: {"message":"m","turn":"t","offset":0,"text":"x"}\n\n`;
  const bytes = new TextEncoder().encode(text);
  for (const size of [1, 7, bytes.length]) {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
        controller.close();
      },
    });
    const heard: Heard[] = [];
    for await (const one of eventsOf(body)) heard.push(one);
    assert.equal(heard.length, 2);
    assert.ok(heard[0] !== undefined && 'event' in heard[0] && heard[0].event.event === 'message');
    assert.deepEqual([heard[0].event.sequence, heard[0].event.data.text], [1, 'é']);
    assert.deepEqual(heard[1], { delta: { message: 'm', turn: 't', offset: 0, text: 'x' } });
  }
});

test('what was finished while nobody listened is not shown twice', () => {
  const begun = thread(events(user('Count.')));
  const half = withDelta(begun, { message: 'a One two.', turn: 't', offset: 0, text: 'One' });
  const all = events(user('Count.'), answer('One two.'), [
    'tool.call',
    { call: 'c', tool: 'notes.count', arguments: {} },
  ]);
  const read = withNewest(half, { events: all, earlier: false, state: 'running' });
  const late = withDelta(read, { message: 'a One two.', turn: 't', offset: 3, text: ' two.' });
  for (const one of [read, late])
    assert.deepEqual(
      itemsOf(one).map((item) => (item.kind === 'answer' ? item.text : item.kind)),
      ['user', 'One two.', 'tool'],
    );
});
