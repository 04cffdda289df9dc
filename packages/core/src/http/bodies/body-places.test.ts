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
  assert.equal(await open({ kind: 'known', name: 'somebody', appOf: null }), true);
});

test('the apps of one account share places, and leave those of its person and of other accounts', async () => {
  const { open, openAll } = opened();
  const ofApps = limits.unfinishedBodiesOfApps.value;
  const app = (name: string, appOf: string): BodySender => ({ kind: 'known', name, appOf });
  const taken = await openAll(Array.from({ length: ofApps }, (_, n) => app(`app ${Math.floor(n / MOST)}`, 'a')));
  assert.ok(taken.every(Boolean));
  assert.equal(await open(app('app 0', 'a')), false, 'its own share');
  assert.equal(await open(app('one more app', 'a')), false, 'that of all apps of the account');
  assert.equal(await open({ kind: 'known', name: 'a', appOf: null }), true, 'its person');
  assert.equal(await open(app('app of b', 'b')), true, 'another account');
});

test('all apps together share places, and a place that ends goes to who waits', async () => {
  const places = new BodyPlaces();
  const request = () => Object.assign(new EventEmitter(), { complete: false, destroyed: false });
  const inAll = limits.unfinishedAppBodies.value;
  const appOf = (one: number): BodySender => ({
    ...{ kind: 'known', name: `app ${Math.floor(one / MOST)}` },
    appOf: `account ${Math.floor(one / limits.unfinishedBodiesOfApps.value)}`,
  });
  const hold = (one: number, body: EventEmitter) => places.hold(body as unknown as IncomingMessage, appOf(one));
  const refused = (one: number) =>
    assert.rejects(
      places.read(request() as unknown as IncomingMessage, appOf(one), async () => undefined),
      RefusalError,
    );
  const bodies = Array.from({ length: inAll }, request);
  await Promise.all(bodies.map((body, one) => hold(one, body)));
  await refused(inAll);
  const waits = hold(inAll, request());
  bodies[0]?.emit('end');
  const end = await waits;
  bodies[0]?.emit('close');
  await refused(inAll + 1);
  end();
  end();
  (await hold(inAll + 1, request()))();
});

test('an upload waits for a place longer than what is read at once, and takes none once its caller has left', async () => {
  const places = new BodyPlaces();
  const request = () => Object.assign(new EventEmitter(), { complete: false, destroyed: false });
  const app: BodySender = { kind: 'known', name: 'app', appOf: 'account' };
  const hold = (body: EventEmitter) => places.hold(body as unknown as IncomingMessage, app);
  const [first] = await Promise.all(Array.from({ length: MOST }, () => hold(request())));
  const [leaving, waiting] = [request(), request()];
  const left = assert.rejects(hold(leaving), /aborted/);
  const waits = hold(waiting);
  await assert.rejects(
    places.read(request() as unknown as IncomingMessage, app, async () => undefined),
    RefusalError,
  );
  leaving.emit('close');
  await left;
  first?.();
  (await waits)();
});
