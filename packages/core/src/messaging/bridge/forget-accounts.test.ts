// The bridge forgets an account that was deleted, after a while, however long it is away; and nobody else.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { registerAccount } from '../../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../../tests/support/constellation.ts';
import { until } from '../../../../../tests/support/wait.ts';
import { nameOf, type Writer, writerOf } from '../../../test-support/messaging.ts';
import { BRIDGE_TOKEN, type BridgeDouble, startBridgeDouble } from '../../../test-support/messaging-bridge.ts';
import { deleteAccount } from '../../accounts/deletion/delete-account.ts';
import { notify } from '../../database/notify.ts';
import { queueForgetting } from './forget-accounts.ts';

const SERVER = 'shell.platform.localhost';
const ALICE = '@alice:example.org';

let world: Constellation;
let bridge: BridgeDouble;
before(async () => {
  bridge = await startBridgeDouble();
  const configured = { kind: 'configured', url: bridge.url, token: BRIDGE_TOKEN } as const;
  world = await startConstellation({
    config: { messaging: { serverName: SERVER, bridge: configured, federation: null, clientUrl: null } },
  });
});
after(async () => {
  await world?.close();
  await bridge?.close();
});
afterEach(() => {
  bridge.answer = (_, truth) => truth;
});

const forgotten = (name: string) =>
  bridge.calls.filter(({ operation, subject }) => operation === 'forget' && subject.platformName === name);
const jobs = async () => (await world.core.context.pool.query('SELECT name FROM bridge_removals')).rows;
const remove = (writer: Writer) => deleteAccount(world.core.context, { name: nameOf(writer) });
/** Makes what waits due, as its time would. */
async function pass(): Promise<void> {
  const { pool, database } = world.core.context;
  await pool.query("UPDATE bridge_removals SET due_at = now() - interval '1 minute'");
  await notify(database, 'bridge-removal-queued', {});
}

test('an account that was deleted is forgotten, by its own id and address, once no call of it can be under way', async () => {
  const ada = await writerOf(world, 'ada');
  const ben = await writerOf(world, 'ben');
  await ada.direct(ALICE);
  await ben.direct(ALICE);
  const { rows } = await world.core.context.pool.query("SELECT key FROM accounts WHERE name = 'ada'");
  await remove(ada);
  const [job] = (await world.core.context.pool.query('SELECT account_key, due_at FROM bridge_removals')).rows;
  assert.equal(job.account_key, rows[0].key);
  assert.ok(job.due_at.getTime() - world.core.context.clock().getTime() > 40_000);
  assert.deepEqual(forgotten('ada'), []);
  await pass();
  await until('the bridge to be asked', async () => (await jobs()).length === 0);
  assert.deepEqual(
    forgotten('ada').map(({ subject, input }) => [subject, input]),
    [
      [
        {
          accountId: rows[0].key,
          platformName: 'ada',
          platformAddress: `ada@${SERVER}`,
          transportUserId: `@ada:${SERVER}`,
        },
        {},
      ],
    ],
  );
  assert.deepEqual(forgotten('ben'), []);
});

test('a bridge that refuses, or is away, is asked again', async () => {
  const cleo = await writerOf(world, 'cleo');
  await cleo.direct(ALICE);
  bridge.answer = (call, truth) =>
    call.operation === 'forget'
      ? { status: 503, body: { version: 1, error: { code: 'unavailable', message: 'no' } } }
      : truth;
  await remove(cleo);
  await pass();
  await until('a refusal', () => forgotten('cleo').length > 0);
  assert.deepEqual(await jobs(), [{ name: 'cleo' }]);
  bridge.answer = (_, truth) => truth;
  await until('the next try', async () => {
    await pass();
    return (await jobs()).length === 0;
  });
});

test('of an account that took no part in messages the bridge is not told', async () => {
  const dana = await writerOf(world, 'dana');
  await remove(dana);
  assert.deepEqual(await jobs(), []);
});

test('an account that only others wrote to is known to the bridge too, and it is told even where none is configured by then', async () => {
  const eve = await writerOf(world, 'eve');
  const finn = await writerOf(world, 'finn');
  const gus = await registerAccount(world, 'gus');
  await eve.direct('finn');
  const { config } = world.core.context;
  const without = {
    ...world.core.context,
    config: { ...config, messaging: { ...config.messaging, bridge: { kind: 'none' } as const } },
  };
  for (const name of [nameOf(finn), gus.name])
    await world.core.context.database.transaction().execute(async (trx) => {
      const { rows } = await world.core.context.pool.query('SELECT key FROM accounts WHERE name = $1', [name]);
      await queueForgetting(without, trx, rows[0].key);
    });
  assert.deepEqual(await jobs(), [{ name: 'finn' }]);
});
