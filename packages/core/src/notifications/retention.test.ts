// Promises of retention: what is over, too old or too much goes, the rest stays, and one replica at a time removes it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { registerAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { installTestApp } from '../../../../tests/support/installed-app.ts';
import { PeriodicTask } from '../background/periodic-task.ts';
import { notificationRetention } from './retention.ts';

const DAY = 86_400_000;
const KEPT = 2_500;
let now = Date.UTC(2026, 0, 1);
let world: Constellation;
let accounts = 0;
before(async () => {
  const config = { notificationDays: 30, notificationsKept: KEPT };
  world = await startConstellation({ clock: () => new Date(now), config });
});
after(() => world.close());

interface Records {
  readonly title: string;
  readonly count: number;
  readonly ageDays?: number;
  readonly expiresInSeconds?: number;
}

/** An account with these records, in this order; `titles` says which are left and how many of each. */
async function accountWith(...all: readonly Records[]): Promise<{ titles(): Promise<Record<string, number>> }> {
  accounts += 1;
  const { pool } = world.core.context;
  const account = await registerAccount(world, `keeper-${accounts}`);
  const app = await installTestApp(world, account, `sender-${accounts}`, []);
  for (const { title, count, ageDays = 0, expiresInSeconds } of all) {
    await pool.query(
      `INSERT INTO notifications
         (id, account_key, installation_id, app_id, topic, title, body, priority, delivery, created_at, expires_at)
       SELECT 'ntf-' || gen_random_uuid(), account_key, id, app_id, 'news', $2, '', 'low', 'inbox', $4, $5
         FROM installations, generate_series(1, $3::int) WHERE id = $1`,
      [
        app.installationId,
        title,
        count,
        new Date(now - ageDays * DAY),
        expiresInSeconds === undefined ? null : new Date(now + expiresInSeconds * 1_000),
      ],
    );
  }
  return {
    async titles() {
      const { rows } = await pool.query<{ title: string; n: number }>(
        'SELECT title, count(*)::int AS n FROM notifications WHERE installation_id = $1 GROUP BY title',
        [app.installationId],
      );
      return Object.fromEntries(rows.map(({ title, n }) => [title, n]));
    },
  };
}

/** A round of housekeeping, when it is due again. */
async function sweep(): Promise<void> {
  now += 11 * 60_000;
  assert.equal(await notificationRetention(world.core.context).run(), true);
}

test('old records go, the others stay, also when their presentation has ended', async () => {
  const account = await accountWith(
    { title: 'old', count: 1_200, ageDays: 31 },
    { title: 'not yet old', count: 3, ageDays: 29 },
    { title: 'expired', count: 5, expiresInSeconds: 60 },
    { title: 'expires later', count: 2, expiresInSeconds: 7_200 },
    { title: 'lasting', count: 4 },
  );
  await sweep();
  assert.deepEqual(await account.titles(), { 'not yet old': 3, expired: 5, 'expires later': 2, lasting: 4 });
});

test('every account keeps its newest records, and no more than the operator allows', async () => {
  const many = await accountWith({ title: 'first', count: 1_300 }, { title: 'last', count: KEPT });
  const some = await accountWith({ title: 'few', count: 5 });
  const one = await accountWith({ title: 'oldest', count: 1 }, { title: 'newer', count: KEPT });
  await sweep();
  assert.deepEqual(await many.titles(), { last: KEPT });
  assert.deepEqual(await some.titles(), { few: 5 });
  assert.deepEqual(await one.titles(), { newer: KEPT });
});

test('an app that floods the inbox pushes out its own records, not those of others or of the platform', async () => {
  const { pool } = world.core.context;
  const account = await registerAccount(world, 'flooded');
  const install = async (appId: string) => (await installTestApp(world, account, appId, [])).installationId;
  const [quiet, busy, flooding] = [
    await install('quiet-app'),
    await install('busy-app'),
    await install('flooding-app'),
  ];
  const publish = async (installationId: string | null, appId: string, count: number) => {
    await pool.query(
      `INSERT INTO notifications
         (id, account_key, installation_id, app_id, topic, title, body, priority, delivery, created_at)
       SELECT 'ntf-' || gen_random_uuid(), a.key, $2, $3, 'news', 'of ' || $3 || ' ' || number, '', 'low', 'inbox', $5
         FROM account_states a, generate_series(1, $4::int) AS number WHERE a.name = $1`,
      ['flooded', installationId, appId, count, new Date(now)],
    );
  };
  // What is to be kept is the oldest.
  await publish(null, 'platform', 3);
  await publish(quiet, 'quiet-app', 700);
  await publish(busy, 'busy-app', 1_000);
  await publish(flooding, 'flooding-app', 4_000);
  await sweep();
  const { rows } = await pool.query(
    `SELECT app_id AS app, count(*)::int AS n, max(title) FILTER (WHERE title = 'of flooding-app 4000') IS NOT NULL AS newest
       FROM notifications n JOIN account_states a ON a.key = n.account_key WHERE a.name = 'flooded'
      GROUP BY app_id ORDER BY app_id`,
  );
  // 2,500 − 3 − 700 is shared by the two that have more than an equal part, as even as it goes.
  assert.deepEqual(rows, [
    { app: 'busy-app', n: 898, newest: false },
    { app: 'flooding-app', n: 899, newest: true },
    { app: 'platform', n: 3, newest: false },
    { app: 'quiet-app', n: 700, newest: false },
  ]);
});

test('of replicas that look at the same time one does the work, and the next round is due later', async () => {
  now += DAY;
  const done = await Promise.all(Array.from({ length: 6 }, () => notificationRetention(world.core.context).run()));
  assert.equal(done.filter(Boolean).length, 1);
  assert.equal(await notificationRetention(world.core.context).run(), false);
  await sweep();
});

test('a replica that falls behind leaves the task to the one that took it over', async () => {
  const everyMilliseconds = 1_000;
  let pieces = 0;
  const quick = new PeriodicTask(world.core.context, { name: 'shared', everyMilliseconds, piece: async () => false });
  const slow = new PeriodicTask(world.core.context, {
    name: 'shared',
    everyMilliseconds,
    async piece() {
      pieces += 1;
      now += 2_000;
      assert.equal(await quick.run(), true, 'it is due again');
      return true;
    },
  });
  assert.equal(await slow.run(), false);
  assert.equal(pieces, 1);
});
