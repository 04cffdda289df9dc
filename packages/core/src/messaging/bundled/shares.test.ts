// What one account does a thousand times over does not come before what another one does once.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { InstallationId } from '@platform/contract';
import { registerAccount } from '../../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../../tests/support/constellation.ts';
import { bundledTransport } from './bundled-transport.ts';

const APP = 'inst-01900000-0000-7000-8000-000000000001' as InstallationId;
/** Of 100 messages each. */
const FLOOD = 30;

let world: Constellation;

before(async () => {
  world = await startConstellation();
});
after(() => world?.close());

async function keyOf(name: string): Promise<string> {
  await registerAccount(world, name);
  const { rows } = await world.core.context.pool.query('SELECT key FROM accounts WHERE name = $1', [name]);
  return rows[0].key as string;
}

test('a message is not stored behind those of an account that floods', async () => {
  let batches = 0;
  const transport = bundledTransport({
    ...world.core.context,
    at: async (point) => {
      if (point === 'messaging.change.committed') batches += 1;
    },
  });
  const [flooder, target, ada, ben] = await Promise.all(['flooder', 'target', 'ada-waits', 'ben-waits'].map(keyOf));
  if (flooder === undefined || target === undefined || ada === undefined || ben === undefined) throw new Error();
  const opened = async (one: string, other: string, otherName: string, name: string): Promise<string> => {
    const { conversation } = await transport.direct(one, otherName);
    await transport.direct(other, name);
    return conversation.id;
  };
  const flooded = await opened(flooder, target, 'target', 'flooder');
  const calm = await opened(ada, ben, 'ben-waits', 'ada-waits');
  const send = (accountKey: string, conversationId: string, transactionId: string) =>
    transport.send({ accountKey, installationId: APP }, { conversationId, transactionId, body: 'Hello' });

  batches = 0;
  const flood = Array.from({ length: FLOOD * 100 }, (_, place) => send(flooder, flooded, `flood ${place}`));
  await flood[0];
  await send(ada, calm, 'one');
  const before = batches;
  await Promise.all(flood);
  assert.ok(batches >= FLOOD, `${batches} batches`);
  assert.ok(before <= FLOOD / 3, `${before} of ${batches} batches were stored before it`);
});
