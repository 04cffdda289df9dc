// Promise of the wiring: a core that does not start leaves nothing behind that would keep its process from ending.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Constellation, startConstellation } from '../../../tests/support/constellation.ts';
import { freePort } from '../../../tests/support/free-port.ts';

let world: Constellation;
before(async () => {
  world = await startConstellation();
});
after(() => world.close());

/** Connections to the database that listen for signals, once there are so many. */
async function listening(expected: number): Promise<void> {
  const count = "SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = 'platform-signals'";
  const limit = performance.now() + 20_000;
  for (;;) {
    const { rows } = await world.core.context.pool.query<{ n: number }>(`${count} AND datname = current_database()`);
    if (rows[0]?.n === expected) return;
    assert.ok(performance.now() < limit, `${rows[0]?.n} connections listen`);
  }
}

test('a core whose port is taken ends what it began, and says why', async () => {
  const { config } = world.core.context;
  await assert.rejects(world.replica({ config }), { code: 'EADDRINUSE' });
  await listening(1);
});

test('a core whose last part does not start gives its port back', async () => {
  const config = { ...world.core.context.config, listenPort: await freePort() };
  const linkListen = { host: '127.0.0.1', port: world.port };
  await assert.rejects(world.replica({ config, linkListen }), { code: 'EADDRINUSE' });
  await listening(1);
  const replica = await world.replica({ config });
  assert.equal(replica.port, config.listenPort);
});
