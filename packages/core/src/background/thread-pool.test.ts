// Promises of the threads: a job that takes too much fails alone, its thread is replaced, and idle threads end.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { getPriority } from 'node:os';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { until } from '../../../../tests/support/wait.ts';
import type { TestJob } from './testing-thread.ts';
import { OverBudgetError, ThreadPool, type ThreadPoolOptions } from './thread-pool.ts';

const pools: ThreadPool<TestJob, number>[] = [];
after(() => Promise.all(pools.map((pool) => pool.close())));

function open(options: Partial<ThreadPoolOptions> = {}): ThreadPool<TestJob, number> {
  const program = new URL('./testing-thread.ts', import.meta.url);
  const pool = new ThreadPool<TestJob, number>({
    program,
    memoryMiB: 32,
    milliseconds: 30_000,
    threads: 1,
    ...options,
  });
  pools.push(pool);
  return pool;
}

test('there is no thread before the first job, and none some time after the last one', async () => {
  const pool = open({ idleMilliseconds: 1 });
  assert.equal(pool.size, 0);
  await pool.run({ kind: 'thread' });
  await until('the thread to end', () => pool.size === 0);
  assert.ok((await pool.run({ kind: 'thread' })) > 0, 'the next job begins another');
});

test('a thread that works once ends with its job, and the next one has another', async () => {
  const pool = open({ once: true });
  const jobs = await Promise.all([1, 2, 3].map(() => pool.run({ kind: 'thread' })));
  assert.equal(new Set(jobs).size, 3);
  await until('the last thread to end', () => pool.size === 0);
});

/** There is no less priority than this. */
const NICEST = 19;

test('threads give way to the one that answers requests, whose priority stays', async () => {
  const before = getPriority();
  const thread = await open().run({ kind: 'priority' });
  assert.ok(thread > before || before === NICEST, String(thread));
  assert.equal(getPriority(), before);
});

test('threads of a process that was started with less priority give way to it too', async () => {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const again = [process.execPath, '--test-name-pattern=whose priority stays', fileURLToPath(import.meta.url)];
  const { stdout } = await promisify(execFile)('nice', ['-n', '10', ...again], { env });
  assert.match(stdout, /pass 1$/m);
});

test('a job that throws fails with its message, and its thread goes on', async () => {
  const pool = open();
  const first = await pool.run({ kind: 'thread' });
  await assert.rejects(pool.run({ kind: 'fail', why: 'it is not right' }), { message: 'it is not right' });
  assert.equal(await pool.run({ kind: 'thread' }), first);
});

test('a job that does not end is ended after its time, and the next one has another thread', async () => {
  // Longer than a thread takes to begin on a busy machine.
  const pool = open({ milliseconds: 8_000 });
  const first = await pool.run({ kind: 'thread' });
  const [endless, next] = await Promise.allSettled([pool.run({ kind: 'spin' }), pool.run({ kind: 'thread' })]);
  assert.ok(endless.status === 'rejected' && endless.reason instanceof OverBudgetError);
  assert.match(endless.reason.message, /longer than 8 s/);
  assert.ok(next.status === 'fulfilled' && next.value !== first);
});

test('a job that takes too much memory ends its thread, and not the process', async () => {
  const pool = open();
  await assert.rejects(pool.run({ kind: 'grow' }), (error) => {
    assert.ok(error instanceof OverBudgetError);
    return /more than 32 MiB/.test(error.message);
  });
  assert.ok((await pool.run({ kind: 'thread' })) > 0);
});

test('a job that its caller gives up fails with the reason, while it waits or while it is under way', async () => {
  const pool = open({ milliseconds: null });
  const [underWay, waiting] = [new AbortController(), new AbortController()];
  const [first, second] = [
    pool.run({ kind: 'spin' }, { signal: underWay.signal }),
    pool.run({ kind: 'thread' }, { signal: waiting.signal }),
  ];
  waiting.abort(new Error('not any more'));
  await assert.rejects(second, { message: 'not any more' });
  underWay.abort(new OverBudgetError('long enough'));
  await assert.rejects(first, { message: 'long enough' });
  await assert.rejects(pool.run({ kind: 'thread' }, { signal: underWay.signal }), { message: 'long enough' });
});

test('a job whose caller leaves is not begun, and one that a thread works on is ended by nothing but its limits', async () => {
  const pool = open({ milliseconds: 8_000 });
  const first = await pool.run({ kind: 'thread' });
  const caller = new AbortController();
  const reason = new Error('the caller left');
  const underWay = pool.run({ kind: 'pause', milliseconds: 300 }, { caller: caller.signal });
  const waiting = [1, 2, 3].map(() => pool.run({ kind: 'spin' }, { caller: caller.signal }));
  const next = pool.run({ kind: 'thread' });
  caller.abort(reason);
  const outcomes = await Promise.allSettled(waiting);
  assert.deepEqual(
    outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason),
    [reason, reason, reason],
  );
  assert.deepEqual(await Promise.all([underWay, next]), [first, first]);
  await assert.rejects(pool.run({ kind: 'spin' }, { caller: caller.signal }), reason);
});

test('what is under way when the pool ends fails, and so does what is asked later', async () => {
  const pool = open();
  const running = [pool.run({ kind: 'spin' }), pool.run({ kind: 'thread' })];
  const [settled] = await Promise.all([Promise.allSettled(running), pool.close()]);
  assert.deepEqual(
    settled.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  await assert.rejects(pool.run({ kind: 'thread' }), /stopped/);
});
