// Backends that ran within the defaults, because their snapshot named nothing, go on; nothing else gets a backend.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { testDatabase } from '../../../../tests/support/postgres.ts';
import { migrate, ownMigrations } from './migrate.ts';

const MIGRATION = '0021-reviewed-backends.sql';

const none = { mode: 'automatic', memoryMiB: 0, cpus: 0, pids: 0, diskMiB: 0 };
const own = { mode: 'always', memoryMiB: 64, cpus: 0.5, pids: 20, diskMiB: 300 };
const large = { workload: { mode: 'always', volume: true, resources: { memoryMiB: 512, cpus: 4, pids: 40 } } };
const apps = {
  plain: {
    manifest: { frontend: {} },
    before: { ...none, diskMiB: 70 },
    after: { ...none, idleSeconds: 0, diskMiB: 70 },
  },
  running: { manifest: large, before: none, after: { ...none, idleSeconds: 300, memoryMiB: 256, cpus: 1, pids: 40 } },
  reviewed: { manifest: large, before: own, after: { ...own, idleSeconds: 300 } },
  former: { manifest: large, before: null, after: null },
};

test('a backend that ran within the defaults goes on, and none begins to run', async () => {
  const database = await testDatabase();
  const client = new pg.Client({ connectionString: database.url });
  try {
    const migrations = (await ownMigrations()).filter(({ name }) => name < MIGRATION);
    await migrate(database.url, { version: '0.1.0', migrations });
    await client.connect();
    await client.query("INSERT INTO accounts (key, name, created_at) VALUES ('acct-1', 'alice', now())");
    await client.query("INSERT INTO package_blobs (hash, size, created_at) VALUES (repeat('0', 64), 10, now())");
    for (const [appId, { manifest, before }] of Object.entries(apps)) {
      await client.query("INSERT INTO apps (app_id, owner_key, created_at) VALUES ($1, 'acct-1', now())", [appId]);
      await client.query("INSERT INTO app_versions VALUES ($1, '1.0.0', repeat('0', 64), $2, true, now())", [
        appId,
        JSON.stringify(manifest),
      ]);
      await client.query(
        `INSERT INTO installations
                (id, account_key, app_id, version, host_label, endpoint_id, grants, resources, installed_at)
         VALUES ('inst-' || $1, 'acct-1', $1, '1.0.0', $1, $1, '[]', $2, now())`,
        [appId, before === null ? null : JSON.stringify(before)],
      );
    }
    await migrate(database.url);
    const { rows } = await client.query<{ app_id: string; resources: object | null }>(
      'SELECT app_id, resources FROM installations',
    );
    const found = Object.fromEntries(rows.map(({ app_id, resources }) => [app_id, resources]));
    assert.deepEqual(found, Object.fromEntries(Object.entries(apps).map(([appId, { after }]) => [appId, after])));
  } finally {
    await client.end();
    await database.drop();
  }
});
