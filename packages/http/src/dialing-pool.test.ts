// What a pool does when the addresses of its name change: while it is in use, while a request is under way, and to what is
// not allowed.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'undici';
import { portOf } from '../test-support/port-of.ts';
import { BlockedAddressError, createDialer } from './dialer.ts';
import { openDialingPool } from './dialing-pool.ts';

const FIRST = '93.184.215.14';
const SECOND = '93.184.215.15';
const ORIGIN = 'http://api.example.com';
const AGE_MS = 200;

/** What stands for the two addresses. */
const servers = new Map<string, Server>();
let release = Promise.withResolvers<void>();

before(async () => {
  for (const address of [FIRST, SECOND]) {
    const server = createServer(async (req, res) => {
      if (req.url === '/slow') {
        res.write('begin ');
        await release.promise;
      }
      res.end(address);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    servers.set(address, server);
  }
});
after(() => {
  for (const server of servers.values()) {
    server.closeAllConnections();
    server.close();
  }
});

/** A pool, and the answer of its name server. */
function openChanging(): { readonly pool: Pool; readonly tried: string[]; answer: readonly string[] } {
  const tried: string[] = [];
  const state = { answer: [FIRST] as readonly string[], tried };
  const dialer = createDialer({
    resolve: async () => state.answer,
    open({ host }) {
      tried.push(host);
      const server = servers.get(host);
      assert.ok(server !== undefined, host);
      return connect(portOf(server), '127.0.0.1');
    },
  });
  return Object.assign(state, { pool: openDialingPool(ORIGIN, { dialer, allow: 'public', connectionAge: AGE_MS }) });
}

async function get(pool: Pool, path = '/'): Promise<string> {
  const { body } = await pool.request({ method: 'GET', path });
  return body.text();
}

test('a connection that is never idle moves to the new address all the same', async () => {
  const changing = openChanging();
  assert.equal(await get(changing.pool), FIRST);
  changing.answer = [SECOND];
  const until = performance.now() + 10 * AGE_MS;
  let answered = FIRST;
  while (answered === FIRST && performance.now() < until) {
    // Until the connection is free again; another would be made beside it.
    await delay(20);
    answered = await get(changing.pool);
  }
  assert.equal(answered, SECOND);
  assert.deepEqual(changing.tried, [FIRST, SECOND]);
  await changing.pool.destroy();
});

for (const [what, answer] of [
  ['a private one', ['127.0.0.1']],
  ['a private one among others', [SECOND, '169.254.169.254']],
  ['a private one of IPv6', ['fd00::1']],
] as const)
  test(`when the new address is ${what}, nothing is sent after the connection's age, and nothing connects there`, async () => {
    const changing = openChanging();
    assert.equal(await get(changing.pool), FIRST);
    changing.answer = answer;
    await delay(AGE_MS + 50);
    for (let count = 0; count < 3; count += 1) await assert.rejects(get(changing.pool), BlockedAddressError);
    assert.deepEqual(changing.tried, [FIRST]);
    await changing.pool.destroy();
  });

test('a request that is under way goes on, and others find the new address beside it', async () => {
  release = Promise.withResolvers();
  const changing = openChanging();
  const slow = get(changing.pool, '/slow');
  await delay(AGE_MS + 50);
  changing.answer = [SECOND];
  assert.equal(await get(changing.pool), SECOND);
  release.resolve();
  assert.equal(await slow, `begin ${FIRST}`);
  await changing.pool.destroy();
});
