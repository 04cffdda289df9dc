// Signals arrive after the commit that sent them, on every replica, and a lost connection is known at once.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type TestDatabase, testDatabase } from '../../../../tests/support/postgres.ts';
import { notify } from './notify.ts';
import { type OpenDatabase, openDatabase } from './open-database.ts';
import { Signals } from './signals.ts';

let database: TestDatabase;
let open: OpenDatabase;
let here: Signals;
let there: Signals;

before(async () => {
  database = await testDatabase();
  open = openDatabase({ url: database.url, onError: () => undefined });
  here = new Signals(database.url, () => undefined);
  there = new Signals(database.url, () => undefined);
  await Promise.all([here.start(), there.start()]);
});
after(async () => {
  await Promise.all([here.stop(), there.stop()]);
  await open.close();
  await database.drop();
});

const change = { installationId: 'inst-1', accountKey: 'acct-1' };

function received(signals: Signals): object[] {
  const signalled: object[] = [];
  signals.on('installation-changed', (data) => signalled.push(data));
  return signalled;
}

test('a committed signal reaches every replica, and settled() waits until it does', async () => {
  const [mine, theirs] = [received(here), received(there)];
  await open.database.transaction().execute((trx) => notify(trx, 'installation-changed', change));
  await Promise.all([here.settled(open.pool), there.settled(open.pool)]);
  assert.deepEqual([mine, theirs], [[change], [change]]);
});

test('who listens for one account hears of that one alone, until it stops listening', async () => {
  const signalled: object[] = [];
  const off = here.onAbout('installation-changed', 'accountKey', 'acct-1', (data) => signalled.push(data));
  await notify(open.database, 'installation-changed', { ...change, accountKey: 'acct-2' });
  await notify(open.database, 'installation-changed', change);
  await here.settled(open.pool);
  off();
  await notify(open.database, 'installation-changed', change);
  await here.settled(open.pool);
  assert.deepEqual(signalled, [change]);
});

test('a signal of a transaction that is rolled back is never delivered', async () => {
  const signalled = received(here);
  const failed = open.database.transaction().execute(async (trx) => {
    await notify(trx, 'installation-changed', change);
    throw new Error('rolled back');
  });
  await assert.rejects(failed, /rolled back/);
  await here.settled(open.pool);
  assert.deepEqual(signalled, []);
});

test('a lost connection is reported as a reset, and signals arrive again after the next one', async () => {
  const lost = Promise.withResolvers<void>();
  const back = Promise.withResolvers<void>();
  there.onReset(() => (there.connected ? back.resolve() : lost.resolve()));
  await open.pool.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'platform-signals' AND datname = current_database()",
  );
  await lost.promise;
  assert.equal(there.connected, false);
  await there.settled(open.pool);
  await back.promise;
  const signalled = received(there);
  await notify(open.database, 'installation-changed', change);
  await there.settled(open.pool);
  assert.deepEqual(signalled, [change]);
});
