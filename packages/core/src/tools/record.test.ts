// The record within its bounds: what is too much goes from whoever has the most, so that nobody washes out what others did.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { registerAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { removeSurplusToolCalls } from './queries.ts';
import { recordCall } from './record.ts';

let world: Constellation;

before(async () => {
  world = await startConstellation();
});
after(() => world?.close());

test('beyond what is kept, the oldest ones of the caller with the most go', async () => {
  await registerAccount(world, 'ada');
  const { context } = world.core;
  const { rows } = await context.pool.query<{ key: string }>("SELECT key FROM accounts WHERE name = 'ada'");
  const accountKey = rows[0]?.key ?? '';
  const call = (caller: string, at: number) =>
    recordCall(context, {
      ...{ accountKey, caller, tool: `notes.add${at}`, outcome: 'ok', milliseconds: 1 },
      argumentsHash: Buffer.alloc(32),
    });
  for (let at = 0; at < 3; at += 1) await call('quiet', at);
  for (let at = 0; at < 20; at += 1) await call('loud', at);
  for (let removed = 1; removed > 0; ) {
    const next = await removeSurplusToolCalls(context.database, { after: '', kept: 10, most: 4 });
    removed = next?.removed ?? 0;
  }
  const left = await context.pool.query<{ caller: string; calls: string }>(
    'SELECT caller, count(*) AS calls FROM tool_calls WHERE account_key = $1 GROUP BY caller ORDER BY caller',
    [accountKey],
  );
  assert.deepEqual(
    left.rows.map(({ caller, calls }) => `${caller} ${calls}`),
    ['loud 7', 'quiet 3'],
  );
});
