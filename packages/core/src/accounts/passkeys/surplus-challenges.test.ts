// Strangers cannot make the table of challenges grow without end, and what they add does not outlive its time.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Constellation, startConstellation } from '../../../../../tests/support/constellation.ts';
import { until } from '../../../../../tests/support/wait.ts';
import { removeSomeChallenges } from './surplus-challenges.ts';

const MINUTE = 60_000;

let world: Constellation;
let offset = 0;
before(async () => {
  world = await startConstellation({ clock: () => new Date(Date.now() + offset) });
});
after(() => world.close());

async function left(): Promise<string[]> {
  const { rows } = await world.core.context.pool.query<{ id: string }>('SELECT id FROM challenges ORDER BY expires_at');
  return rows.map(({ id }) => id);
}

async function add(label: string, count: number, expiresInSeconds: number): Promise<void> {
  await world.core.context.pool.query(
    `INSERT INTO challenges (id, challenge, operation, expires_at)
     SELECT $4 || '-' || n, ''::bytea, 'login', $3::timestamptz + make_interval(secs => $2::float8 + n::float8 / 1000)
       FROM generate_series(1, $1::int) AS n`,
    [count, expiresInSeconds, world.core.context.clock(), label],
  );
}

test('of too many challenges the oldest are removed', async () => {
  const { context } = world.core;
  await add('expired', 2_500, 100);
  await add('older', 5, 200);
  offset += 2 * MINUTE;
  await add('newer', 2_500, 100);
  while (await removeSomeChallenges(context, 1_003, context.time.proven()));
  const kept = await left();
  assert.equal(kept.length, 1_003);
  assert.ok(kept.every((id) => id.startsWith('newer-')));
});

test('expired challenges go without anybody asking for another', async () => {
  const { context } = world.core;
  offset += 10 * MINUTE;
  // Core may be removing some of them at the same time.
  await until('them to be gone', async () => {
    await removeSomeChallenges(context, 100_000, context.time.proven());
    return (await left()).length === 0;
  });
  await until('core to look after them by itself', async () => {
    const { rowCount } = await context.pool.query("SELECT FROM periodic_tasks WHERE name = 'surplus-challenges'");
    return rowCount === 1;
  });
});
