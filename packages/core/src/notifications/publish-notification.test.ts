// Promises of publishing together: what shares a transaction is stored once, and shares no fault.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { installationId, RefusalError } from '@platform/contract';
import { sql } from 'kysely';
import { registerAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { installTestApp } from '../../../../tests/support/installed-app.ts';
import { hashCredential } from '../credentials/credential.ts';
import { newId } from '../credentials/ids.ts';
import type { InstallationCaller } from '../installations/face.ts';
import { findInstallationCaller } from '../installations/installation-caller.ts';
import { notificationPublisher, type Publish } from './publish-notification.ts';
import { lockAccountNotifications } from './queries.ts';

let world: Constellation;
before(async () => {
  world = await startConstellation();
});
after(() => world.close());

const usual = { topic: 'news', body: '', priority: 'normal', delivery: 'inbox' } as const satisfies Partial<
  Parameters<Publish>[1]
>;

async function callerOf(name: string): Promise<InstallationCaller> {
  const account = await registerAccount(world, name);
  const app = await installTestApp(world, account, 'sender', [{ id: 'notifications.publish', resources: ['*'] }]);
  const caller = await findInstallationCaller(world.core.context, hashCredential(app.credential));
  assert.ok(caller !== null);
  return caller;
}

async function stored(caller: InstallationCaller): Promise<string[]> {
  const { rows } = await world.core.context.pool.query<{ title: string }>(
    'SELECT title FROM notifications WHERE account_key = $1 ORDER BY sequence',
    [caller.accountKey],
  );
  return rows.map(({ title }) => title);
}

test('many at once share a few transactions, and each is stored once', async () => {
  const callers = [await callerOf('first'), await callerOf('second'), await callerOf('third')];
  const publish = notificationPublisher(world.core.context);
  const transactions = async () => {
    const { rows } = await world.core.context.pool.query<{ n: number }>(
      'SELECT count(DISTINCT xmin::text)::int AS n FROM notifications',
    );
    return rows[0]?.n ?? 0;
  };
  const titles = Array.from({ length: 100 }, (_, index) => `n${index}`);
  await Promise.all(titles.flatMap((title) => callers.map((caller) => publish(caller, { ...usual, title }))));
  assert.ok((await transactions()) <= 6, `${await transactions()} transactions`);
  for (const caller of callers) assert.deepEqual((await stored(caller)).toSorted(), titles.toSorted());
});

test('one whose app was removed meanwhile is refused, and the others are stored', async () => {
  const caller = await callerOf('staying');
  const gone: InstallationCaller = {
    ...caller,
    installationId: installationId.parse(newId('inst', world.core.context)),
  };
  const publish = notificationPublisher(world.core.context);
  const outcomes = await Promise.allSettled(
    Array.from({ length: 30 }, (_, index) =>
      publish(index % 10 === 7 ? gone : caller, { ...usual, title: `n${index}` }),
    ),
  );
  for (const [index, outcome] of outcomes.entries()) {
    if (index % 10 !== 7) assert.equal(outcome.status, 'fulfilled', `n${index}`);
    else
      assert.ok(
        outcome.status === 'rejected' &&
          outcome.reason instanceof RefusalError &&
          outcome.reason.refusal.code === 'unauthenticated',
        `n${index}`,
      );
  }
  assert.equal((await stored(caller)).length, 27);
});

test('of equal dedupe keys in one transaction, or in those of two replicas, one is stored and all get it', async () => {
  const [one, two] = [await callerOf('twice'), await callerOf('thrice')];
  const publishers = [notificationPublisher(world.core.context), notificationPublisher(world.core.context)];
  const published = await Promise.all(
    Array.from({ length: 60 }, (_, index) =>
      publishers[index % 2]?.(index % 3 === 0 ? one : two, {
        ...usual,
        title: `n${index}`,
        dedupeKey: `k${index % 2}`,
      }),
    ),
  );
  assert.equal(published.filter((answer) => answer?.created).length, 4);
  assert.equal(new Set(published.map((answer) => answer?.record.id)).size, 4);
  assert.deepEqual([(await stored(one)).length, (await stored(two)).length], [2, 2]);
});

test('what waits for another writer of its account gets a higher number than what that one writes', async () => {
  const { database, pool } = world.core.context;
  const caller = await callerOf('waiting');
  const publish = notificationPublisher(world.core.context);
  const { record } = await publish(caller, { ...usual, title: 'first' });
  const waits = `SELECT count(*)::int AS n FROM pg_locks l JOIN pg_database d ON d.oid = l.database
                  WHERE l.locktype = 'advisory' AND NOT l.granted AND d.datname = current_database()`;
  let waiting: ReturnType<Publish> | undefined;
  await database.transaction().execute(async (trx) => {
    await lockAccountNotifications(trx, [caller.accountKey]);
    waiting = publish(caller, { ...usual, title: 'third' });
    while ((await pool.query<{ n: number }>(waits)).rows[0]?.n !== 1);
    await sql`
      INSERT INTO notifications (id, account_key, installation_id, app_id, topic, title, body, priority, delivery, created_at)
      SELECT ${newId('ntf', world.core.context)}, account_key, installation_id, app_id, topic, 'second', body, priority,
             delivery, created_at
        FROM notifications WHERE id = ${record.id}`.execute(trx);
  });
  await waiting;
  assert.deepEqual(await stored(caller), ['first', 'second', 'third']);
});
