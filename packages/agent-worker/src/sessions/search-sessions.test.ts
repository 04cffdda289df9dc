// The search over sessions: what it finds, in what order, and how far it reads.
import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { agents } from '@platform/contract/agents';
import { searchSessions } from './search-sessions.ts';
import { openSessionStore, type SessionStore } from './session-store.ts';

function storeOf(t: TestContext): { readonly store: SessionStore; readonly folder: string } {
  const volume = mkdtempSync(join(tmpdir(), 'agent-search-'));
  t.after(() => rmSync(volume, { recursive: true }));
  let at = 0;
  const now = () => {
    at += 1;
    return new Date(Date.UTC(2026, 10, 28, 12, 0, at));
  };
  return { store: openSessionStore(volume, now), folder: join(volume, 'sessions') };
}

function session(store: SessionStore, title: string, ...texts: readonly string[]): string {
  using use = store.create();
  for (const [index, text] of texts.entries()) {
    const role = index % 2 === 0 ? 'user' : 'assistant';
    use.session.append('message', { message: `m${index}`, turn: 't', role, text }, [
      { role: 'user', content: 'only the model sees this', timestamp: 0 },
    ]);
  }
  use.session.append('tool.result', {
    ...{ call: 'c', turn: 't', tool: 'notes.list', isError: false, cut: false, text: 'hidden in a result' },
  });
  use.session.rename(title);
  return use.session.card.id;
}

const ids = (answer: Awaited<ReturnType<SessionStore['search']>>) => answer.found.map(({ card }) => card.id);

test('all words have to be in one message or the title, in whatever case and form', async (t) => {
  const { store } = storeOf(t);
  const fern = session(store, 'Plants', 'How do I water a FERN?', 'Twice a week, with a “can”.\nNot more.');
  const cafe = session(store, 'Le Cafe\u0301', 'Bonjour.');
  for (const [query, expected] of [
    ['fern water', [fern]],
    ['fern week', []],
    ['PLANTS', [fern]],
    ['caf\u00e9', [cafe]],
    ['“can”. not', [fern]],
    ['a', [cafe, fern]],
    ['   ', []],
    ['\\n', []],
    ['only the model', []],
    ['hidden in a result', []],
    ['"event":"message"', []],
  ] as const)
    assert.deepEqual(ids(await store.search(query)), expected, query);
});

test('the newest message is the one that is shown, around the word, and without what hides', async (t) => {
  const { store } = storeOf(t);
  session(store, 'x', 'needle first', `${'long '.repeat(50)}needle\u202e **last** ${'more '.repeat(90)}`);
  const [found] = (await store.search('NEEDLE')).found;
  assert.equal(found?.match?.sequence, 2);
  assert.match(found.match.excerpt, /^…(?:\S* ){3,6}needle last more .*…$/);
  assert.ok(found.match.excerpt.length <= 202);
});

test('it reads no more than it may, and says so', async (t) => {
  const { store, folder } = storeOf(t);
  const old = session(store, 'old', `needle ${'x'.repeat(5_000)}`);
  const large = session(store, 'large', `needle ${'x'.repeat(20_000)}`);
  const young = session(store, 'young', 'needle');
  const within = async (bytes: number) => {
    const answer = await searchSessions(folder, store.list(), 'needle', { most: bytes });
    return [ids(answer), answer.complete];
  };
  assert.deepEqual(await within(1_000_000), [[young, large, old], true]);
  assert.deepEqual(await within(12_000), [[young, old], false], 'one that is too large does not keep out the others');
  assert.deepEqual(await within(0), [[], false]);
});

test('it finds as many as it may', async (t) => {
  const { store } = storeOf(t);
  const most = agents.limits.agentSearchItems.value;
  for (let index = 0; index <= most; index += 1) session(store, 'needle');
  const { found, complete } = await store.search('needle');
  assert.deepEqual([found.length, complete], [most, false]);
});

test('searches wait for each other, and not too many do', async (t) => {
  const { store } = storeOf(t);
  session(store, 'needle');
  const all = await Promise.allSettled(Array.from({ length: 6 }, () => store.search('needle')));
  assert.deepEqual(
    all.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'rejected'],
  );
  assert.equal((await store.search('needle')).found.length, 1, 'and then there is room again');
});

test('a session that is deleted meanwhile is not found', async (t) => {
  const { store, folder } = storeOf(t);
  const gone = session(store, 'x', 'needle');
  const cards = store.list();
  store.remove(gone);
  assert.deepEqual(await searchSessions(folder, cards, 'needle'), { found: [], complete: true });
});

/** How often everything else had its turn until it ended. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const over = work.then(() => {
    isOver = true;
  });
  for (; !isOver; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  await over;
  return turns;
}

/** As many messages as a long session has. */
function longSession(store: SessionStore): number {
  using use = store.create();
  const text = 'nothing of interest '.repeat(100);
  use.session.appendAll(
    Array.from({ length: 2_000 }, (_, index) => ({
      event: 'message' as const,
      data: { message: `m${index}`, turn: 't', role: 'assistant' as const, text },
    })),
  );
  return use.session.bytes;
}

test('everything else of the agent goes on while thousands of messages are looked through', async (t) => {
  const { store } = storeOf(t);
  const bytes = longSession(store);
  assert.ok((await turnsDuring(store.search('needle'))) >= bytes / (128 * 1024));
});

test('a search that nobody waits for any more ends, and keeps no place', async (t) => {
  const { store } = storeOf(t);
  longSession(store);
  const left = Array.from({ length: 4 }, () => new AbortController());
  const searches = left.map(({ signal }) => store.search('needle', signal));
  for (const one of left) one.abort();
  for (const one of await Promise.allSettled(searches)) assert.equal(one.status, 'rejected');
  assert.deepEqual(ids(await store.search('needle')), []);
});

test('a message in which a piece of what is read ends is found, and one that is being written is not', async (t) => {
  const { store, folder } = storeOf(t);
  const texts = Array.from({ length: 40 }, (_, index) => `\u{1F33F}${'é'.repeat(4_001)} needle-${index}.`);
  const id = session(store, 'x', ...texts);
  for (let index = 0; index < texts.length; index += 1)
    assert.equal((await store.search(`needle-${index}.`)).found[0]?.match?.sequence, index + 1);
  const line = { sequence: 42, at: '', event: 'message', data: { text: 'unfinished' } };
  appendFileSync(join(folder, `${id}.jsonl`), JSON.stringify(line));
  assert.deepEqual(ids(await store.search('unfinished')), []);
});
