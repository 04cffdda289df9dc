// Promises of preparing an index in threads: the same comes out as without, and what takes too much is refused.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { RefusalError } from '@platform/contract';
import { type EntriesJob, prepareHere } from './prepare-entries.ts';
import { PreparePool } from './prepare-pool.ts';
import { digestOf } from './search-document.ts';

const pools: PreparePool[] = [];
after(() => Promise.all(pools.map((pool) => pool.stop())));

function open(options?: { readonly milliseconds: number }): PreparePool {
  const pool = new PreparePool(options);
  pools.push(pool);
  return pool;
}

function jobOf(count: number): EntriesJob {
  const entries = Array.from({ length: count }, (_, index) => {
    const text = `Größe "${index}" it's école \\ Дом 東京タワー `.repeat(20);
    return { id: `n-${index}`, title: `Note ${index}`, kind: 'note', url: `/n/${index}`, text };
  });
  const [first] = entries;
  assert.ok(first !== undefined);
  return {
    kind: 'entries',
    mark: 'abcdef',
    entries: entries.map((entry) => ({ entry, known: entry === first ? digestOf(first) : null })),
  };
}

test('threads make of entries and of words what would be made without them', async () => {
  const pool = open();
  const job = jobOf(200);
  const [inThread, here] = await Promise.all([pool.entries(job), prepareHere.entries(job)]);
  assert.equal(pool.threads, 1);
  assert.equal(inThread[0], null, 'what is indexed so already is left');
  const plain = (prepared: typeof here) => prepared.map((one) => one && { ...one, digest: [...one.digest] });
  assert.deepEqual(plain(inThread), plain(here));
  const words = Array.from({ length: 5_000 }, (_, index) => `größe${index}"\\`);
  assert.deepEqual(await pool.words({ kind: 'words', words }), await prepareHere.words({ kind: 'words', words }));
});

test('a small change begins no thread', async () => {
  const pool = open();
  assert.equal((await pool.entries(jobOf(2))).length, 2);
  await pool.words({ kind: 'words', words: ['one', 'two'] });
  assert.equal(pool.threads, 0);
});

test('nothing is prepared for a change that is over before a thread has it', async () => {
  const pool = open();
  const over = new AbortController();
  // As many as make every thread busy, and some that wait.
  const jobs = Array.from({ length: 40 }, () => pool.entries(jobOf(200), over.signal));
  const words = Array.from({ length: 5_000 }, (_, index) => `word${index}`);
  const last = pool.words({ kind: 'words', words }, over.signal);
  over.abort(new Error('over'));
  await assert.rejects(last, { message: 'over' });
  const outcomes = await Promise.allSettled(jobs);
  const prepared = outcomes.filter(({ status }) => status === 'fulfilled').length;
  assert.equal(prepared, pool.threads, 'each thread ended the one that it had');
  await assert.rejects(pool.entries(jobOf(200), over.signal), { message: 'over' });
});

test('entries that take too long to index are refused, with what to do', async () => {
  const refused = open({ milliseconds: 1 }).entries(jobOf(500));
  await assert.rejects(refused, (error) => {
    assert.ok(error instanceof RefusalError);
    assert.equal(error.refusal.code, 'unavailable');
    return /longer than 0\.001 s.*Send fewer/.test(error.refusal.detail ?? '');
  });
});
