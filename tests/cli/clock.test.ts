// An operator whose machine has a clock that the time on record contradicts: what the commands say, before and beside a running
// platform with its own PostgreSQL, and how the platform goes on.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { withConnection } from '@platform/core/database';
import { startEmbeddedPostgres } from '@platform/core/embedded-postgres';
import {
  databaseUrlOf,
  type PlatformPlace,
  type PlatformProcess,
  platformPlace,
  startPlatform,
} from '../support/platform-process.ts';
import { until } from '../support/wait.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const STORY_MS = 240_000;
const EXPIRED = "SELECT count(*)::int AS n FROM invitations WHERE account_name = 'guest'";

let place: PlatformPlace;
let platform: PlatformProcess | undefined;
before(async () => {
  place = await platformPlace();
});
after(async () => {
  await platform?.stop();
  await place.remove();
});

function run(...args: string[]): { code: number | null; text: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['packages/cli/src/main.ts', ...args], {
    cwd: ROOT,
    env: place.environment,
    encoding: 'utf8',
  });
  return { code: status, text: stdout + stderr };
}

async function invitations(): Promise<number> {
  return withConnection({ connectionString: await databaseUrlOf(place) }, async (client) => {
    const { rows } = await client.query<{ n: number }>(EXPIRED);
    return rows[0]?.n ?? 0;
  });
}

test('a clock that is 100 days ahead is said, deletes nothing, and is accepted', { timeout: STORY_MS }, async () => {
  assert.deepEqual([run('clock').code, run('clock', 'sideways').code], [0, 2]);
  // As if the machine's clock had been 100 days behind until now.
  const postgres = await startEmbeddedPostgres({ dataDir: place.dataDirectory, log: () => undefined });
  try {
    await withConnection({ connectionString: postgres.url }, async (client) => {
      await client.query("UPDATE clock_readings SET at = at - interval '100 days'");
      await client.query(
        `INSERT INTO invitations (id, token_hash, account_name, created_at, expires_at)
         VALUES ('inv-guest', 'a', 'guest', now() - interval '101 days', now() - interval '94 days')`,
      );
    });
  } finally {
    await postgres.stop();
  }
  const ahead = run('clock');
  assert.equal(ahead.code, 1);
  assert.match(ahead.text, /100 days ahead .*\.\/platform clock accept/);

  platform = await startPlatform(place);
  await until('the alarm in the log', async () => platform?.output().includes('100 days ahead') === true);
  const doctor = run('doctor');
  assert.equal(doctor.code, 1);
  assert.match(doctor.text, /✗ clock +clocks differ\n.*100 days ahead/);
  assert.equal(run('account', 'invite').code, 0, 'a new row sweeps no old ones by the way');
  assert.equal(await invitations(), 1);

  assert.equal(run('clock', 'accept').code, 0);
  assert.equal(run('clock').code, 0);
  await until('core to go on', async () => platform?.output().includes('clocks agree again') === true);
  assert.match(run('doctor').text, /✓ clock +agrees/);
  assert.equal(run('account', 'invite').code, 0);
  assert.equal(await invitations(), 0, 'now its time is over');
});
