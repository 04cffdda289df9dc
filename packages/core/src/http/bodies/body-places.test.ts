// Whose unfinished bodies take places from whom.
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { limits, RefusalError } from '@platform/contract';
import { BodyPlaces, type BodySender } from './body-places.ts';

const { value: MOST } = limits.unfinishedBodies;
const { value: IN_ALL } = limits.unfinishedAnonymousBodies;
const from = (name: string, browser: string | null = null): BodySender => ({ kind: 'anonymous', name, browser });

function opened() {
  const places = new BodyPlaces();
  /** @returns whether it is read, which then never ends */
  const open = (sender: BodySender): Promise<boolean> => {
    const request = Object.assign(new EventEmitter(), { complete: false, destroyed: false });
    return new Promise((resolve, reject) => {
      places
        .read(request as unknown as IncomingMessage, sender, () => {
          resolve(true);
          return new Promise(() => undefined);
        })
        .catch((error: unknown) => (error instanceof RefusalError ? resolve(false) : reject(error)));
    });
  };
  const openAll = (senders: readonly BodySender[]) => Promise.all(senders.map(open));
  return { open, openAll };
}

/** As many from each of so many as fill what all have together. */
const everybody = (sender: (one: number) => BodySender): BodySender[] =>
  Array.from({ length: IN_ALL }, (_, index) => sender(Math.floor(index / MOST)));

test('strangers who fill their places, those of one network or all, keep out no browser that signed in before', async () => {
  const { open, openAll } = opened();
  await openAll(Array(MOST).fill(from('home')));
  assert.equal(await open(from('home')), false);
  assert.equal(await open(from('home', 'browser a')), true);
  await openAll(everybody((network) => from(`network ${network}`)));
  assert.equal(await open(from('elsewhere')), false);
  assert.equal(await open(from('home', 'browser a')), true);
  assert.equal(await open(from('home', 'browser b')), true);
});

test('one browser keeps out no other, and has the places of its network besides its own', async () => {
  const { open, openAll } = opened();
  const own = await openAll(Array(2 * MOST).fill(from('home', 'browser a')));
  assert.ok(own.every(Boolean));
  assert.equal(await open(from('home', 'browser a')), false);
  assert.equal(await open(from('home')), false);
  assert.equal(await open(from('home', 'browser b')), true);
});

test('whoever fills the places of all browsers leaves those of the networks', async () => {
  const { open, openAll } = opened();
  await openAll(everybody((browser) => from('far away', `browser ${browser}`)));
  assert.equal(await open(from('home', 'browser of mine')), true);
  assert.equal(await open(from('home')), true);
  assert.equal(await open({ kind: 'known', name: 'somebody' }), true);
});
