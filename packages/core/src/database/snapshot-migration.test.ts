// Installations from before snapshots get theirs from the manifest they run: nothing that works stops, nothing is added.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { testDatabase } from '../../../../tests/support/postgres.ts';
import { migrate, ownMigrations } from './migrate.ts';

const MIGRATION = '0018-granted-resources.sql';

const reading = { id: 'apps.catalog.read', resources: ['*'] };
const apps = {
  plain: { manifest: { frontend: {} }, grants: [reading] },
  worker: {
    manifest: {
      workload: {
        mode: 'always',
        idleSeconds: 45,
        volume: true,
        resources: { memoryMiB: 512, cpus: 0.5, pids: 40, diskMiB: 300 },
      },
    },
    grants: [],
  },
  reaching: {
    manifest: {
      frontend: {
        csp: {
          connect: ['https://Api.example/v1?x=1', 'https://api.example:443', 'https://a;script-src *', 'https://*'],
          image: ['https://img.example:8443/#x'],
        },
      },
    },
    grants: [reading, { id: 'network.connect', resources: ['https://slot.example'] }],
  },
};

test('a snapshot is made of the manifest of the installed version', async () => {
  const database = await testDatabase();
  const client = new pg.Client({ connectionString: database.url });
  try {
    const migrations = (await ownMigrations()).filter(({ name }) => name < MIGRATION);
    await migrate(database.url, { version: '0.1.0', migrations });
    await client.connect();
    await client.query("INSERT INTO accounts (key, name, created_at) VALUES ('acct-1', 'alice', now())");
    await client.query("INSERT INTO package_blobs VALUES (repeat('0', 64), 10, now())");
    for (const [appId, { manifest, grants }] of Object.entries(apps)) {
      await client.query("INSERT INTO apps (app_id, owner_key, created_at) VALUES ($1, 'acct-1', now())", [appId]);
      await client.query("INSERT INTO app_versions VALUES ($1, '1.0.0', repeat('0', 64), $2, true, now())", [
        appId,
        JSON.stringify(manifest),
      ]);
      await client.query(
        `INSERT INTO installations (id, account_key, app_id, version, host_label, endpoint_id, grants, installed_at)
         VALUES ('inst-' || $1, 'acct-1', $1, '1.0.0', $1, $1, $2, now())`,
        [appId, JSON.stringify(grants)],
      );
    }
    await migrate(database.url);
    const { rows } = await client.query('SELECT id, resources, grants FROM installations ORDER BY id');
    const none = { mode: 'automatic', idleSeconds: 0, memoryMiB: 0, cpus: 0, pids: 0, diskMiB: 0 };
    assert.deepEqual(rows, [
      { id: 'inst-plain', resources: none, grants: [reading] },
      {
        id: 'inst-reaching',
        resources: none,
        grants: [
          reading,
          {
            id: 'network.connect',
            resources: ['https://api.example', 'https://img.example:8443', 'https://slot.example'],
          },
        ],
      },
      {
        id: 'inst-worker',
        resources: { mode: 'always', idleSeconds: 45, memoryMiB: 512, cpus: 0.5, pids: 40, diskMiB: 300 },
        grants: [],
      },
    ]);
  } finally {
    await client.end();
    await database.drop();
  }
});
