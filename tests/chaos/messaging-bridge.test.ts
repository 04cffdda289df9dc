// A messaging bridge that is stopped, killed under traffic and loses its store, and a homeserver that is away: what was written
// arrives once, on both sides, and what was decrypted stays so.
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import * as path from 'node:path';
import { after, before, suite, test } from 'node:test';
import { BridgeFailure, type BridgeWorld, type Person, startBridgeWorld } from '../support/bridge-world.ts';
import { type Child, startChild } from '../support/child.ts';
import type { MatrixClient } from '../support/matrix-client.ts';
import { synapsePackages } from '../support/synapse.ts';
import { randomOf, thorough } from '../support/thorough.ts';
import { STORY_MS, until } from '../support/wait.ts';

const MAIN = new URL('../support/bridge-process-main.ts', import.meta.url).pathname;
const KILLS = thorough(5, 20);
const packages = await synapsePackages();
const skip = packages === null && 'needs Python with venv, and a package index';

/** A call repeated while the bridge or its homeserver is away, as core's callers repeat it. */
async function stubborn<Result>(call: () => Promise<Result>): Promise<Result> {
  return until(
    'an answer of the bridge',
    () =>
      call().catch((error: unknown) => {
        const isAway = error instanceof BridgeFailure ? error.code === 'unavailable' : error instanceof TypeError;
        if (!isAway) throw error;
        return null;
      }),
    120_000,
  );
}

async function bodiesOf(person: Person, conversationId: string): Promise<string[]> {
  const bodies: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await stubborn(() =>
      person.ask('messages', { conversationId, limit: 100, ...(cursor === undefined ? {} : { cursor }) }),
    );
    bodies.push(...page.messages.map(({ body }) => body));
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return bodies.reverse();
}

suite('a bridge that ends', { skip, timeout: STORY_MS }, () => {
  let world: BridgeWorld;
  let ada: Person;
  let zoe: MatrixClient;
  let room: string;
  let conversationId: string;
  before(async () => {
    world = await startBridgeWorld(packages ?? '');
    ada = world.person('ada');
    zoe = await world.stranger('zoe');
    conversationId = (await ada.ask('direct', { to: zoe.userId })).conversation.id;
    room = await zoe.invitedBy(ada.userId);
    await zoe.do('join', { room });
    await ada.conversationWith(zoe.userId, 'open');
  });
  after(() => world?.close());

  test('what came while it was away is there, and what it decrypted before is still readable', async () => {
    await zoe.do('send', { room, body: 'before' });
    await ada.receives('before');
    await world.stopBridge();
    await zoe.do('send', { room, body: 'while it was away' });
    await world.startBridge();
    await ada.receives('while it was away');
    assert.deepEqual(await bodiesOf(ada, conversationId), ['before', 'while it was away']);
  });

  test('a homeserver that was restarted: the same, both ways', async () => {
    await world.home.stop();
    await assert.rejects(
      ada.ask('send', { conversationId, transactionId: 'restart', message: { body: 'across the restart' } }),
      (error) => error instanceof BridgeFailure && error.code === 'unavailable',
    );
    assert.ok((await bodiesOf(ada, conversationId)).includes('before'), 'what is kept is read without it');
    await world.home.start();
    await stubborn(() =>
      ada.ask('send', { conversationId, transactionId: 'restart', message: { body: 'across the restart' } }),
    );
    await zoe.receives('across the restart');
    await zoe.do('send', { room, body: 'after the restart' });
    await ada.receives('after the restart');
  });

  test(`killed ${KILLS} times under traffic, nothing is lost and nothing doubled`, async (t) => {
    const random = randomOf(t);
    await world.stopBridge();
    let bridge: Child | null = null;
    const start = async () => {
      const serving = Promise.withResolvers<void>();
      bridge = startChild(MAIN, {
        environment: { TEST_BRIDGE_OPTIONS: JSON.stringify(world.options) },
        onLine: () => serving.resolve(),
      });
      await serving.promise;
    };
    await start();
    let isOver = false;
    const [ours, theirs]: [string[], string[]] = [[], []];
    const sending = (async () => {
      for (let count = 0; !isOver; count += 1) {
        const body = `ours ${count}`;
        await stubborn(() => ada.ask('send', { conversationId, transactionId: body, message: { body } }));
        ours.push(body);
      }
    })();
    const answering = (async () => {
      for (let count = 0; !isOver; count += 1) {
        const body = `theirs ${count}`;
        await zoe.do('send', { room, body });
        theirs.push(body);
        // As fast as the bridge takes them in at least.
        await until(body, async () => (await stubborn(() => bodiesOf(ada, conversationId))).includes(body), 120_000);
      }
    })();
    try {
      for (let kill = 0; kill < KILLS; kill += 1) {
        // At some message more: a moment of its work, and not of the clock.
        const goal = ours.length + 1 + Math.floor(random() * 3);
        await until('traffic', () => ours.length >= goal, 120_000);
        await (bridge as Child | null)?.kill();
        await start();
      }
    } finally {
      isOver = true;
      await Promise.all([sending, answering]);
      await (bridge as Child | null)?.kill();
      await world.startBridge();
    }
    await until('the last message', async () => (await bodiesOf(ada, conversationId)).includes(theirs.at(-1) ?? ''));
    const kept = await bodiesOf(ada, conversationId);
    assert.deepEqual(
      kept.filter((body) => body.startsWith('theirs ')),
      theirs,
    );
    assert.deepEqual(
      kept.filter((body) => body.startsWith('ours ')),
      ours,
    );
    for (const body of ours) {
      await zoe.receives(body);
      assert.equal(zoe.arrived.filter((one) => one.body === body).length, 1, body);
    }
    assert.ok(zoe.arrived.every(({ event }) => event !== 'undecrypted'));
  });

  test('a store that was lost is a new device, and its conversations say so', async () => {
    const device = await ada.ask('identity', {});
    await world.stopBridge();
    await rm(path.join(world.folder, 'accounts'), { recursive: true });
    await world.startBridge();
    assert.deepEqual(await ada.ask('identity', {}), device);
    await ada.receives(/The keys of this account were lost/);
    const { id } = await ada.conversationWith(zoe.userId, 'open');
    await ada.ask('send', { conversationId: id, transactionId: 'new', message: { body: 'from the new device' } });
    await zoe.receives('from the new device');
    await zoe.do('send', { room, body: 'to the new device' });
    await ada.receives('to the new device');
  });

  test('a second bridge on the same store, and one without its key, do not start', async () => {
    const { startBridge } = await import('@platform/messaging-bridge');
    const quiet = () => undefined;
    const log = { info: quiet, warn: quiet, error: quiet };
    const listen = { host: '127.0.0.1', port: 0 };
    await assert.rejects(startBridge({ ...world.options, listen, log }), /Another messaging bridge works in/);
    await world.stopBridge();
    await rm(path.join(world.folder, 'bridge.key'));
    await assert.rejects(startBridge({ ...world.options, listen, log }), /bridge\.key is missing/);
  });
});
