// A request whose caller has left gets no turn, whenever that was.
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { openTurns } from './turns.ts';

const response = (): ServerResponse =>
  Object.assign(new EventEmitter(), { writableFinished: true, destroyed: false }) as unknown as ServerResponse;

test('what was given up before or while it waits is not begun', async () => {
  const turns = openTurns(1);
  const begun: string[] = [];
  const gate = Promise.withResolvers<void>();
  const stays = new AbortController().signal;
  const leaves = new AbortController();
  const run = (name: string, signal: AbortSignal, until?: Promise<void>) =>
    turns.run(response(), signal, async () => {
      begun.push(name);
      await until;
    });
  const left = AbortSignal.abort(new Error('left'));
  await assert.rejects(run('before a free turn', left), { message: 'left' });
  const first = run('first', stays, gate.promise);
  const waiting = run('while it waits', leaves.signal);
  const last = run('last', stays);
  leaves.abort(new Error('left'));
  await assert.rejects(waiting, { message: 'left' });
  await assert.rejects(run('before it waits', left), { message: 'left' });
  gate.resolve();
  await Promise.all([first, last]);
  assert.deepEqual(begun, ['first', 'last']);
});
