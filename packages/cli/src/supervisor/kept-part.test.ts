// What keeping a part running means: how often it is started again, after which pauses, and when it is given up.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeptPart, MOST_FAILURES, type Running } from './kept-part.ts';

interface Fake extends Running {
  readonly number: number;
  end(how: string): void;
}

function fake(number: number): Fake {
  const { promise: exited, resolve } = Promise.withResolvers<string>();
  return { number, pid: 1_000 + number, exited, end: resolve, stop: async () => resolve('It was asked to.') };
}

/** A part whose starts are taken from `starts`: true for one that runs. */
function keeping(starts: readonly boolean[]) {
  const log: string[] = [];
  const pauses: number[] = [];
  let started = 0;
  let changed = Promise.withResolvers<void>();
  const part = new KeptPart<Fake>({
    name: 'Core',
    log: (line) => log.push(line),
    changed: () => {
      changed.resolve();
      changed = Promise.withResolvers();
    },
    pause: async (milliseconds) => pauses.push(milliseconds),
    start: async () => {
      started += 1;
      if (starts[started - 1] === true) return fake(started);
      throw new Error('the port is taken');
    },
  });
  return { part, log, pauses, nextChange: () => changed.promise };
}

test('a part that ends is restarted at once and said in two lines; its later restarts have growing pauses', async () => {
  const { part, log, pauses, nextChange } = keeping([true, true, true, true]);
  const first = await part.start();
  for (const number of [2, 3, 4]) {
    const away = nextChange();
    part.current?.end(`Core was killed by SIGKILL (${number}).`);
    await away;
    assert.equal(part.state.pid, null, 'it is away until it runs again');
    assert.equal((await part.running()).number, number);
  }
  assert.equal(first.number, 1);
  assert.deepEqual(pauses, [0, 250, 500]);
  assert.equal(log.length, 6);
  assert.equal(log[0], 'Core was killed by SIGKILL (2). It is being restarted.');
  assert.match(log[1] ?? '', /^Core runs again after \d+\.\d s\.$/);
  const { since: _, ...state } = part.state;
  assert.deepEqual(state, { name: 'Core', pid: 1_004, restarts: 3, lastExit: 'Core was killed by SIGKILL (4).' });
});

test('a first start that fails is not repeated', async () => {
  const { part, log } = keeping([false, true]);
  await assert.rejects(part.start(), /the port is taken/);
  assert.deepEqual(log, []);
});

test(`a part that cannot be started ${MOST_FAILURES} times in a row is given up, with the reason`, async () => {
  const { part, pauses } = keeping([true]);
  (await part.start()).end('Core ended with code 1.');
  assert.equal(
    await part.gaveUp,
    'Core could not be restarted in 5 attempts. The last one failed like this: the port is taken',
  );
  assert.deepEqual(pauses, [0, 250, 500, 1_000, 2_000]);
  await part.stop();
});

test('a part that was stopped is not started again', async () => {
  const { part, log } = keeping([true, true]);
  const first = await part.start();
  await part.stop();
  assert.equal(await first.exited, 'It was asked to.');
  assert.deepEqual(log, []);
});
