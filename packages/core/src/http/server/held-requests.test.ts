// A request whose body is still on its way: what was revoked meanwhile is revoked for it too, and a malformed body is
// answered once, counts for the rate of its sender, and is no internal error.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { registerAccount, signIn, type TestAccount } from '../../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../../tests/support/constellation.ts';
import { type InstalledTestApp, installTestApp } from '../../../../../tests/support/installed-app.ts';
import { buildTestPackage, testManifest } from '../../../../../tests/support/packages.ts';
import { openRaw, type RawConnection } from '../../../../http/test-support/raw-exchange.ts';

const NOTIFICATION = JSON.stringify({ topic: 'news', title: 'Held' });

let world: Constellation;
let account: TestAccount;
let app: InstalledTestApp;

before(async () => {
  world = await startConstellation({ rates: { authentication: { perMinute: 1, burst: 8 } } });
  account = await registerAccount(world, 'holder');
  app = await installTestApp(world, account, 'held', [{ id: 'notifications.publish', resources: ['news'] }]);
});
after(() => world.close());

/** Sends all of a request but its last byte, and resolves once core has authenticated it. */
async function hold(
  line: string,
  fields: readonly string[],
  body: string | Buffer,
): Promise<() => Promise<RawConnection>> {
  const bytes = Buffer.from(body);
  const head = [line, `Host: ${new URL(world.origin).host}`, ...fields, `Content-Length: ${bytes.length}`];
  // The answer to the expectation comes behind the first check of the caller.
  const connection = await openRaw(world.port, `${head.join('\r\n')}\r\nExpect: 100-continue\r\n\r\n`);
  await connection.until(() => connection.received().startsWith('HTTP/1.1 100'));
  connection.socket.write(bytes.subarray(0, -1));
  return async () => {
    connection.socket.write(bytes.subarray(-1));
    await connection.until(() => connection.answers().length === 1);
    connection.halfClose();
    return connection;
  };
}

function statusAndCode(connection: RawConnection): [number | undefined, string] {
  const [answer] = connection.answers();
  return [answer?.status, JSON.parse(answer?.body || '{}').code];
}

async function titles(): Promise<string[]> {
  const { items } = await account.browser.take<{ items: { title: string }[] }>('/v1/notifications');
  return items.map(({ title }) => title);
}

const publish = (): ReturnType<typeof hold> =>
  hold(
    'POST /v1/services/notifications HTTP/1.1',
    [`Authorization: Bearer ${app.credential}`, 'Content-Type: application/json'],
    NOTIFICATION,
  );

test('a request that nothing was taken from is served', async () => {
  const finish = await publish();
  assert.equal((await finish()).answers()[0]?.status, 201);
  assert.deepEqual(await titles(), ['Held']);
});

test('an account that is paused while the body is on its way does not serve it', async () => {
  const finish = await publish();
  await account.browser.take('/v1/runtime/pause', { body: {} });
  assert.deepEqual(statusAndCode(await finish()), [503, 'runtime_paused']);
  await account.browser.take('/v1/runtime/resume', { body: {} });
  assert.deepEqual(await titles(), ['Held']);
  await app.restart();
});

test('a grant that is revoked while the body is on its way does not serve it', async () => {
  const finish = await publish();
  const path = '/v1/apps/held/permissions';
  await account.browser.take(path, { method: 'PUT', body: { permissions: [] } });
  assert.deepEqual(statusAndCode(await finish()), [403, 'grant_missing']);
  assert.deepEqual(await titles(), ['Held']);
});

test('a session that is signed out while the body is on its way does not serve it', async () => {
  const other = await signIn(world, account.authenticator);
  const fields = [`Cookie: ${other.cookie}`, `Origin: ${world.origin}`];
  const [finish, upload] = [
    await hold(
      'PUT /v1/apps/held/permissions HTTP/1.1',
      [...fields, 'Content-Type: application/json'],
      JSON.stringify({ permissions: [{ id: 'notifications.publish', resources: ['news'] }] }),
    ),
    await hold(
      'PUT /v1/catalog/uploaded/versions/1.0.0 HTTP/1.1',
      [...fields, 'Content-Type: application/gzip'],
      await buildTestPackage({
        manifest: testManifest('uploaded', {}),
        files: { 'frontend/index.html': '<!doctype html><title>t</title>' },
      }),
    ),
  ];
  await other.browser.take('/v1/auth/logout', { body: {} });
  assert.deepEqual(statusAndCode(await finish()), [401, 'unauthenticated']);
  assert.deepEqual(statusAndCode(await upload()), [401, 'unauthenticated']);
  assert.equal((await account.fetch('/v1/catalog/uploaded')).status, 404);
  const { permissions } = await account.browser.take<{ permissions: unknown[] }>('/v1/apps/held/permissions');
  assert.deepEqual(permissions, []);
});

test('a malformed body on an anonymous route is answered once, counts for the rate and is no internal error', async () => {
  const logged = world.log.length;
  const send = async (body: string) => {
    const head = `POST /v1/auth/login/options HTTP/1.1\r\nHost: ${new URL(world.origin).host}\r\nOrigin: ${world.origin}`;
    const connection = await openRaw(
      world.port,
      `${head}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${body}`,
    );
    await connection.until(() => connection.answers().length > 0);
    if (!connection.isClosed()) connection.halfClose();
    await connection.closed();
    assert.equal(connection.answers().length, 1, connection.received());
    return connection.answers()[0]?.status;
  };
  // Registration and the second session have used some of the eight.
  const statuses: (number | undefined)[] = [];
  for (let attempt = 0; attempt < 8; attempt += 1) statuses.push(await send('1\r\n{\r\nZZZ\r\n'));
  assert.ok(
    statuses.every((status) => status === 400 || status === 429),
    String(statuses),
  );
  assert.equal(await send('2\r\n{}\r\n0\r\n\r\n'), 429, 'each of them has cost a token');
  assert.deepEqual(
    world.log.slice(logged).filter(({ level }) => level === 'error'),
    [],
  );
});
