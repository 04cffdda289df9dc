// Promises of turns: so many of one party and in sum, the parties alternate, and nobody waits for ever.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RefusalError } from '@platform/contract';
import { type EndTurn, type TurnRules, Turns } from './turns.ts';

const rules: TurnRules = { ofKey: 1, waiting: 2, milliseconds: 60_000, detail: 'Wait for one to finish.' };

/** Lets everything run that can. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function isLimited(error: unknown): boolean {
  assert.ok(error instanceof RefusalError);
  assert.deepEqual(error.refusal, { code: 'concurrency_limited', detail: rules.detail, retryAfter: 1 });
  return true;
}

test('one key has its turns one after the other, in order, and others do not wait for it', async () => {
  const turns = new Turns(rules);
  const order: string[] = [];
  const end = await turns.take('a');
  const later = ['second', 'third'].map(async (name) => {
    const done = await turns.take('a');
    order.push(name);
    return done;
  });
  const ofOther = await turns.take('b');
  await settle();
  assert.deepEqual(order, []);
  end();
  end();
  await settle();
  assert.deepEqual(order, ['second'], 'ending twice makes room once');
  (await later[0])?.();
  (await later[1])?.();
  ofOther();
  assert.deepEqual(order, ['second', 'third']);
});

test('one more than may wait is refused at once, and what waits too long after its time', async () => {
  const turns = new Turns({ ...rules, milliseconds: 10 });
  const end = await turns.take('a');
  const waiting = [turns.take('a'), turns.take('a')];
  const late = Promise.all(waiting.map((one) => assert.rejects(one, isLimited)));
  await assert.rejects(turns.take('a'), isLimited);
  await late;
  end();
  (await turns.take('a'))();
});

test('of all places the keys that wait get one each before any gets another', async () => {
  const turns = new Turns({ ...rules, ofKey: 2, inAll: 2 });
  const order: string[] = [];
  const ends: EndTurn[] = [await turns.take('a'), await turns.take('a')];
  const wait = async (key: string): Promise<void> => {
    const end = await turns.take(key);
    order.push(key);
    ends.push(end);
  };
  const all = [wait('a'), wait('a'), wait('b'), wait('c')];
  for (let turn = 0; turn < 4; turn += 1) {
    ends.shift()?.();
    await settle();
  }
  await Promise.all(all);
  assert.deepEqual(order, ['a', 'b', 'c', 'a']);
});

test('what is given up while it waits takes no turn', async () => {
  const turns = new Turns(rules);
  const end = await turns.take('a');
  const gone = new AbortController();
  const abandoned = turns.take('a', gone.signal);
  const reason = new Error('the client left');
  gone.abort(reason);
  await assert.rejects(abandoned, reason);
  await assert.rejects(turns.take('a', gone.signal), reason);
  end();
  assert.equal(await turns.run('a', async () => 'done'), 'done');
  await assert.rejects(
    turns.run('a', () => Promise.reject(reason)),
    reason,
  );
  (await turns.take('a'))();
});
