import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Together, type TogetherRules } from './together.ts';

interface Item {
  readonly owner: string;
  readonly key: string;
}

/** Work that ends when the test says so. */
function underTest({
  didNothing = false,
  ...rules
}: Partial<Pick<TogetherRules<Item, string>, 'shares' | 'groups'>> & { didNothing?: boolean } = {}) {
  const groups: { readonly items: readonly Item[]; end(): void; fail(error: Error): void }[] = [];
  const together = new Together<Item, string>({
    ownerOf: ({ owner }) => owner,
    keyOf: ({ key }) => key,
    groups: 1,
    most: 3,
    ...rules,
    didNothing: () => didNothing,
    work: (items) =>
      new Promise((resolve, reject) => {
        groups.push({ items, end: () => resolve(items.map(({ key }) => `did ${key}`)), fail: reject });
      }),
  });
  const keys = () => groups.map(({ items }) => items.map(({ owner, key }) => owner + key).join(' '));
  return { groups, keys, add: (owner: string, key: string) => together.add({ owner, key }) };
}

test('what comes at the same time is done together, at most so many, each with its own result', async () => {
  const { groups, keys, add } = underTest();
  const results = ['1', '2', '3', '4'].map((key) => add('a', key));
  await turn();
  assert.deepEqual(keys(), ['a1 a2 a3']);
  groups[0]?.end();
  assert.deepEqual(await Promise.all(results.slice(0, 3)), ['did 1', 'did 2', 'did 3']);
  await turn();
  assert.deepEqual(keys(), ['a1 a2 a3', 'a4']);
  groups[1]?.end();
  assert.equal(await results[3], 'did 4');
});

test('owners do not wait for each other, and the same key is never under way twice', async () => {
  const { groups, keys, add } = underTest();
  const results = [add('a', '1'), add('b', '1'), add('a', '1'), add('a', '2')];
  await turn();
  assert.deepEqual(keys(), ['a1 a2', 'b1']);
  groups[0]?.end();
  assert.equal(await results[0], 'did 1');
  await turn();
  assert.deepEqual(keys(), ['a1 a2', 'b1', 'a1']);
  for (const { end } of groups) end();
  assert.deepEqual(await Promise.all(results), ['did 1', 'did 1', 'did 1', 'did 2']);
});

test('a group that certainly did nothing is tried one by one, any other fails as a whole', async () => {
  const tried = underTest({ didNothing: true });
  const [first, second] = [tried.add('a', '1'), tried.add('a', '2')];
  await turn();
  tried.groups[0]?.fail(new Error('one of them is wrong'));
  await turn();
  assert.deepEqual(tried.keys(), ['a1 a2', 'a1']);
  tried.groups[1]?.fail(new Error('this one'));
  await assert.rejects(first ?? Promise.resolve(), /this one/);
  await turn();
  tried.groups[2]?.end();
  assert.equal(await second, 'did 2');

  const lost = underTest();
  const both = [lost.add('a', '1'), lost.add('a', '2')];
  await turn();
  lost.groups[0]?.fail(new Error('the connection was lost'));
  for (const one of both) await assert.rejects(one, /the connection was lost/);
  assert.equal(lost.groups.length, 1);
});

test('who floods has its share of each group, and never all groups', async () => {
  const shares = { of: ({ key }: Item) => key.slice(0, 1), groups: 1 };
  const { groups, keys, add } = underTest({ shares, groups: 2 });
  const flood = Array.from({ length: 7 }, (_, place) => add('', `a${place}`));
  await turn();
  assert.deepEqual(keys(), ['a0 a1 a2']);
  const others = [add('', 'b0'), add('', 'b1'), add('', 'c0'), add('', 'b2'), add('', 'd0')];
  assert.deepEqual(keys().slice(1), ['b0']);
  groups[1]?.end();
  assert.equal(await others[0], 'did b0');
  await turn();
  // One of each before a second of any.
  assert.deepEqual(keys().slice(2), ['b1 c0 d0']);
  groups[0]?.end();
  await flood[0];
  await turn();
  assert.deepEqual(keys().slice(3), ['a3 a4 a5']);
  groups[2]?.end();
  await others[2];
  await turn();
  assert.deepEqual(keys().slice(4), ['b2']);
  groups[3]?.end();
  await flood[3];
  await turn();
  for (const { end } of groups) end();
  assert.deepEqual(
    await Promise.all(flood),
    Array.from({ length: 7 }, (_, place) => `did a${place}`),
  );
  assert.deepEqual(await Promise.all(others), ['did b0', 'did b1', 'did c0', 'did b2', 'did d0']);
});
