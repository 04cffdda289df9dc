// What the search finds is written until it is there, and once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IndexWriter } from './index-writer.ts';

/** A writer whose timers the test rings. */
function world() {
  const written: string[][] = [];
  let timer: { readonly work: () => void; readonly milliseconds: number } | undefined;
  const state = { fails: false };
  const writer = new IndexWriter<string>(
    async (entries) => {
      if (state.fails) throw new Error('the platform is away');
      written.push([...entries]);
    },
    (work, milliseconds) => {
      const own = { work, milliseconds };
      timer = own;
      return () => {
        if (timer === own) timer = undefined;
      };
    },
  );
  return {
    state,
    writer,
    written,
    pause: () => timer?.milliseconds,
    async ring(): Promise<void> {
      const ringing = timer;
      timer = undefined;
      ringing?.work();
      await new Promise(setImmediate);
    },
  };
}

test('what is wanted is written once, and not again while it stays the same', async () => {
  const { writer, written, ring, pause } = world();
  writer.want(['a']);
  writer.want(['a', 'b']);
  await ring();
  writer.want(['a', 'b']);
  assert.equal(pause(), undefined);
  assert.deepEqual(written, [['a', 'b']]);
});

test('what failed is tried again by itself, later each time, and then not any more', async () => {
  const { state, writer, written, ring, pause } = world();
  state.fails = true;
  writer.want(['a']);
  const pauses: (number | undefined)[] = [];
  for (let count = 0; count < 8; count += 1) {
    await ring();
    pauses.push(pause());
  }
  assert.deepEqual(pauses.slice(0, 3), [20_000, 40_000, 80_000]);
  assert.equal(pauses.at(-1), 600_000);
  state.fails = false;
  await ring();
  assert.deepEqual([written, pause()], [[['a']], undefined]);
});

test('news of the platform have what failed tried at once, and nothing else', async () => {
  const { state, writer, written, ring, pause } = world();
  writer.tryNow();
  assert.equal(pause(), undefined);
  state.fails = true;
  writer.want(['a']);
  await ring();
  state.fails = false;
  writer.tryNow();
  assert.equal(pause(), 2_000);
  await ring();
  writer.tryNow();
  assert.deepEqual([written, pause()], [[['a']], undefined]);
});

test('what changes while it is written is written after it', async () => {
  const { writer, written, ring } = world();
  writer.want(['a']);
  const first = ring();
  writer.want(['b']);
  await first;
  await ring();
  assert.deepEqual(written, [['a'], ['b']]);
});

test('it ends with the app', async () => {
  const { writer, written, ring } = world();
  writer.want(['a']);
  writer.end();
  await ring();
  assert.deepEqual(written, []);
});
