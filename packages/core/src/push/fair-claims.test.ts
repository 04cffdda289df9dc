// Browsers of one account, whose push services may hang on purpose, leave most of a worker's slots to others.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { nextDue, settle } from './outbox-queries.ts';
import { PushWork } from './push-work.ts';
import type { PushSender } from './send-message.ts';

const SHARE = 4;

let world: Constellation;
let work: PushWork;
before(async () => {
  world = await startConstellation();
  // Nothing is sent: it only claims.
  work = new PushWork(world.core.context, { sender: {} as PushSender });
});
after(() => world.close());

/** Subscriptions with messages that have been due for so many seconds. */
async function addDue(account: TestAccount, count: number, seconds: number): Promise<void> {
  await world.core.context.pool.query(
    `INSERT INTO push_subscriptions (id, account_key, session_id, expires_at, endpoint_hash, sealed, created_at, due_at)
     SELECT 'psh-' || a.name || n, a.key, s.id, s.expires_at, convert_to(a.name || n, 'UTF8'), '', now(),
            now() - make_interval(secs => $3)
       FROM accounts a JOIN sessions s ON s.account_key = a.key, generate_series(1, $2::int) AS n WHERE a.name = $1`,
    [account.name, count, seconds],
  );
}

async function claim(id: string): Promise<string[]> {
  const now = new Date();
  const claimed = await work.claim({ id, now, until: new Date(now.getTime() + 20_000) }, 64);
  return claimed.map(({ subscription }) => subscription.id.replace(/^psh-|\d+$/g, '')).toSorted();
}

test('an account holds four slots at a time however many of its browsers wait, and others go first', async () => {
  const { database } = world.core.context;
  const hanging = await registerAccount(world, 'hanging-one');
  const patient = await registerAccount(world, 'patient-one');
  await addDue(hanging, 20, 60);
  await addDue(patient, 1, 5);
  assert.deepEqual(await claim('first'), [...Array(SHARE).fill('hanging-one'), 'patient-one']);
  assert.deepEqual(await claim('second'), []);
  const next = await nextDue(database, new Date());
  assert.ok(next !== null && next.getTime() > Date.now() + 10_000, 'a worker does not look again for what must wait');
  const [released] = (
    await world.core.context.pool.query<{ id: string }>(
      "SELECT id FROM push_subscriptions WHERE lease = 'first' LIMIT 1",
    )
  ).rows;
  assert.ok(released !== undefined);
  const outcome = { id: released.id, lease: 'first', done: [], gone: true, retry: null };
  await database.transaction().execute((trx) => settle(trx, [outcome], new Date()));
  assert.deepEqual(await claim('third'), ['hanging-one']);
});
