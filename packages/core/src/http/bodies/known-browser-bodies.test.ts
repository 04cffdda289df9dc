// A neighbour who fills the places of an address with slow bodies keeps no one behind it from signing in where they did before.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { limits } from '@platform/contract';
import { type Constellation, startConstellation } from '../../../../../tests/support/constellation.ts';
import { until } from '../../../../../tests/support/wait.ts';
import { openRaw, type RawConnection } from '../../../../http/test-support/raw-exchange.ts';
import { KnownBrowsers } from '../callers/known-browsers.ts';

const UNFINISHED = limits.unfinishedBodies.value;

let world: Constellation;
before(async () => {
  world = await startConstellation();
});
after(() => world.close());

/** Begins to sign in, with a body of which the last byte is missing. */
function begin(fields: readonly string[] = []): Promise<RawConnection> {
  const all = [`Host: ${new URL(world.origin).host}`, `Origin: ${world.origin}`, 'Content-Type: application/json'];
  const head = ['POST /v1/auth/login/options HTTP/1.1', ...all, ...fields, 'Content-Length: 2'].join('\r\n');
  return openRaw(world.port, `${head}\r\n\r\n{`);
}

const statusOf = (connection: RawConnection) => connection.answers()[0]?.status;

test('slow bodies of strangers leave a browser that signed in before its places', async (t) => {
  const [mark = ''] = new KnownBrowsers(world.core.context).cookie({ headers: {} } as never).split(';', 1);
  const all: RawConnection[] = [];
  t.after(() => {
    for (const { socket } of all) socket.destroy();
  });
  for (let count = 0; count < 5 * UNFINISHED; count += 1) all.push(await begin());
  const refused = () => all.filter((connection) => statusOf(connection) === 429);
  await until('all but those that have places to be refused', () => refused().length === 4 * UNFINISHED);
  const known = await begin([`Cookie: ${mark}`]);
  const stranger = await begin();
  all.push(known, stranger);
  await until('an answer', () => statusOf(stranger));
  assert.equal(statusOf(stranger), 429);
  // It has waited for as long as the one that was refused.
  assert.equal(statusOf(known), undefined);
  known.socket.write('}');
  await until('an answer', () => statusOf(known));
  assert.equal(statusOf(known), 200);
});
