// Promises of the places for publishing: no few accounts hold them all, and nobody holds one without using it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits, type Refusal, RefusalError } from '@platform/contract';
import { type HeldUpload, PublishSlots } from './publish-slots.ts';

const ALL = limits.publishes.value;
const FAIR = limits.publishFairRate.value;

interface TestUpload extends HeldUpload {
  arrived: number;
  ahead: boolean;
  complete: boolean;
  readonly ended: Refusal[];
  finish(): void;
}

class World {
  milliseconds = 0;
  readonly slots = new PublishSlots(() => this.milliseconds);

  /** Begins to publish; what it resolves to is whether it got to its end. */
  begin(accountKey: string): { upload: TestUpload; over: Promise<void> } {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const upload: TestUpload = {
      arrived: 0,
      ahead: false,
      complete: false,
      ended: [],
      bytes: () => upload.arrived,
      isAhead: () => upload.ahead,
      hasArrived: () => upload.complete,
      end(refusal) {
        upload.ended.push(refusal);
        reject(new Error('ended'));
      },
      finish: resolve,
    };
    const over = this.slots.hold(accountKey, upload, () => promise);
    over.catch(() => undefined);
    return { upload, over };
  }
}

function isLimited(error: unknown): boolean {
  return error instanceof RefusalError && error.refusal.code === 'concurrency_limited';
}

test('an account that has none takes the second place of one that has two, the newest first', async () => {
  const world = new World();
  const held = Array.from({ length: ALL }, (_, index) => world.begin(`account-${index % (ALL / 2)}`));
  const newcomer = world.begin('newcomer');
  assert.deepEqual(
    held.map(({ upload }) => upload.ended.length),
    [...Array(ALL - 1).fill(0), 1],
  );
  assert.equal(held.at(-1)?.upload.ended[0]?.code, 'concurrency_limited');
  await assert.rejects(held.at(-1)?.over ?? Promise.resolve());
  newcomer.upload.finish();
  await newcomer.over;
});

test('with a place each, the slowest of the slow ones goes, after it had its time', async () => {
  const world = new World();
  const held = Array.from({ length: ALL }, (_, index) => world.begin(`account-${index}`));
  await assert.rejects(world.begin('early').over, isLimited, 'nobody is judged at once');
  world.milliseconds = 20_000;
  for (const [index, { upload }] of held.entries()) upload.arrived = 20 * FAIR + index;
  await assert.rejects(world.begin('fair').over, isLimited, 'all are fast enough');
  const [slow, slower, waiting] = held.map(({ upload }) => upload);
  assert.ok(slow !== undefined && slower !== undefined && waiting !== undefined);
  Object.assign(slow, { arrived: FAIR });
  Object.assign(slower, { arrived: 10 });
  Object.assign(waiting, { arrived: 0, ahead: true });
  const newcomer = world.begin('newcomer');
  assert.deepEqual(
    [slow, slower, waiting].map(({ ended }) => ended.length),
    [0, 1, 0],
  );
  await assert.rejects(world.begin('newcomer').over, isLimited, 'who has a place takes no other');
  newcomer.upload.finish();
  await newcomer.over;
});

test('a place that was taken over is free only once', async () => {
  const world = new World();
  const held = Array.from({ length: ALL }, (_, index) => world.begin(`account-${index}`));
  world.milliseconds = 20_000;
  const newcomer = world.begin('newcomer');
  const lost = held.find(({ upload }) => upload.ended.length > 0);
  await assert.rejects(lost?.over ?? Promise.resolve());
  for (const { upload } of held) upload.arrived = 20 * FAIR;
  await assert.rejects(world.begin('another').over, isLimited);
  newcomer.upload.finish();
  await newcomer.over;
  const another = world.begin('another');
  another.upload.finish();
  await another.over;
});

test('an upload that is all here keeps its place', async () => {
  const world = new World();
  const held = Array.from({ length: ALL }, (_, index) => world.begin(`account-${index % (ALL / 2)}`));
  for (const { upload } of held) upload.complete = true;
  world.milliseconds = 20_000;
  await assert.rejects(world.begin('newcomer').over, isLimited);
  assert.ok(held.every(({ upload }) => upload.ended.length === 0));
});

test('an upload that lost its place learns of it before it takes effect', async () => {
  const { slots } = new World();
  const { upload } = new World().begin('elsewhere');
  const done = Promise.withResolvers<void>();
  const checks: (() => void)[] = [];
  const works = Array.from({ length: ALL }, (_, index) =>
    slots.hold(`account-${index % (ALL / 2)}`, { ...upload, end: () => undefined }, (stillHeld) => {
      checks.push(stillHeld);
      return done.promise;
    }),
  );
  const newcomer = slots.hold('newcomer', upload, async () => undefined);
  checks.slice(0, -1).forEach((stillHeld) => {
    assert.doesNotThrow(stillHeld);
  });
  assert.throws(() => checks.at(-1)?.(), isLimited);
  done.resolve();
  await Promise.all([...works, newcomer]);
});
