// Many schedules are due at the same moment: two replicas share them, and each is delivered once. The clock is the test's;
// the node is a double that plays the backends.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scheduleFiring } from '@platform/contract';
import { registerAccount } from '../../../../tests/support/client.ts';
import { startConstellation } from '../../../../tests/support/constellation.ts';
import { until } from '../../../../tests/support/wait.ts';
import { startNodeDouble } from '../../test-support/node-double.ts';
import { installJobs, managerOf, managerPackage } from '../../test-support/schedules.ts';
import { newId } from '../credentials/ids.ts';
import { notify } from '../database/notify.ts';

const ACCOUNTS = 5;
const EACH = 100;

test('of 500 that are due at once, two replicas deliver each once', async (t) => {
  let now = Date.parse('2026-11-21T10:00:00.000Z');
  const first = await startConstellation({
    clock: () => new Date(now),
    systemPackages: [await managerPackage()],
  });
  t.after(() => first.close());
  const replica = await first.replica();
  // The local node has one credential: that of the last start.
  const world = { ...first, core: { ...first.core, localNode: replica.localNode } };
  const node = await startNodeDouble(world);
  t.after(() => node.close());
  const isCall = (path: string) => path.includes('/call/');
  node.answer = ({ path }) =>
    isCall(path)
      ? { status: 200, headers: { 'platform-answered-by': 'workload' }, body: '' }
      : { status: 204, body: '' };
  const { pool, database } = world.core.context;
  for (let count = 0; count < ACCOUNTS; count += 1) {
    const account = await registerAccount(world, `scheduler-${count}`);
    await installJobs(world, account);
    const { id } = await (await managerOf(world, account)).create();
    const more = Array.from({ length: EACH - 1 }, () => newId('sch', world.core.context));
    await pool.query(
      `INSERT INTO account_schedules
         SELECT (jsonb_populate_record(s, jsonb_build_object('id', n.id))).*
           FROM account_schedules s, unnest($2::text[]) AS n (id) WHERE s.id = $1`,
      [id, more],
    );
  }
  now = Date.parse('2026-11-22T07:00:01.000Z');
  await notify(database, 'schedules-changed', {});
  const delivered = async () => {
    const { rows } = await pool.query<{ count: number }>(
      "SELECT count(*)::integer FROM account_schedules WHERE last_outcome = 'delivered'",
    );
    return rows[0]?.count === ACCOUNTS * EACH;
  };
  await until('all to be delivered', delivered, 120_000);
  const ids = node.wholeCalls
    .filter(({ path }) => isCall(path))
    .map(({ body }) => scheduleFiring.parse(JSON.parse(body)).scheduleId);
  assert.equal(ids.length, ACCOUNTS * EACH);
  assert.equal(new Set(ids).size, ids.length);
});
