// Uploads of items and files take the places that every body takes: slow ones of one app, or of all apps of an account, leave those of
// everybody else.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { limits } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import type { InstalledTestApp } from '../../../../tests/support/installed-app.ts';
import { until } from '../../../../tests/support/wait.ts';
import { openRaw, type RawConnection } from '../../../http/test-support/raw-exchange.ts';
import { type ContentApp, contentApp } from '../../test-support/content.ts';

const OF_ONE = limits.unfinishedBodies.value;
const OF_APPS = limits.unfinishedBodiesOfApps.value;
const KiB = 1_024;

let world: Constellation;
let slow: TestAccount;
let other: ContentApp;
before(async () => {
  world = await startConstellation();
  slow = await registerAccount(world, 'sends-slowly');
  other = await contentApp(world, await registerAccount(world, 'sends-fast'), 'sends-0');
});
after(() => world.close());

/** An exchange of which the body begins and does not end. */
function begin(
  { credential }: Pick<InstalledTestApp, 'credential'>,
  line: string,
  { type, begun, length }: { readonly type: string; readonly begun: string; readonly length: number },
): Promise<RawConnection> {
  const fields = [
    ...[`${line} HTTP/1.1`, `Host: ${new URL(world.origin).host}`, `Authorization: Bearer ${credential}`],
    ...[`Content-Type: ${type}`, `Content-Length: ${length}`],
  ];
  return openRaw(world.port, `${fields.join('\r\n')}\r\n\r\n${begun}`);
}

const uploads = {
  item: (app: ContentApp, id: string, key: string) =>
    begin(app.app, `PUT /v1/services/content/collections/${id}/items/${key}`, {
      ...{ type: 'text/plain', begun: 'x', length: 2 * KiB },
    }),
  'large item': (app: ContentApp, id: string, key: string) =>
    begin(app.app, `PUT /v1/services/content/collections/${id}/items/${key}`, {
      ...{ type: 'text/plain', begun: 'x', length: 1_024 * KiB },
    }),
  file: (app: ContentApp, _: string, name: string) =>
    begin(app.app, `PUT /v1/services/files/${name}`, { type: 'text/plain', begun: 'x', length: 1_024 * KiB }),
};

const isRefused = (connection: RawConnection) => connection.answers()[0]?.status === 429;
const asks = (app: ContentApp) =>
  begin(app.app, 'POST /v1/services/content/collections', {
    ...{ type: 'application/json', begun: '{', length: 2 * KiB },
  });

/**
 * Other bodies of the app, which are JSON and wait for a moment only, find no place. So few could all have one if those before them
 * had none.
 *
 * @param others find theirs meanwhile
 */
async function requireFull(app: ContentApp, others: readonly ContentApp[]): Promise<void> {
  const found = await Promise.all(others.map(asks));
  const asked: RawConnection[] = [];
  try {
    await until('one to be refused', async () => {
      // Those that were quicker than the uploads have their places.
      for (const { socket } of asked.splice(0)) socket.destroy();
      for (let one = 0; one < OF_ONE; one += 1) asked.push(await asks(app));
      return until('its answer', () => asked.some(isRefused), 1_000).catch(() => false);
    });
    assert.ok(!found.some(isRefused));
  } finally {
    for (const { socket } of [...asked, ...found]) socket.destroy();
  }
}

for (const [what, upload] of Object.entries(uploads))
  test(`slow uploads of one app take its places and no others: ${what}`, async (t) => {
    const app = await contentApp(world, slow, `slow-${what.replace(' ', '-')}`);
    const neighbour = await contentApp(world, slow, `near-${what.replace(' ', '-')}`);
    const { id } = await app.made('list', 'Slow');
    const all: RawConnection[] = [];
    t.after(() => {
      for (const { socket } of all) socket.destroy();
    });
    for (let one = 0; one < OF_ONE; one += 1) all.push(await upload(app, id, `k${one}`));
    await requireFull(app, [neighbour]);
    const { id: own } = await other.made('list', 'Fast');
    assert.equal((await other.put(own, 'a', Buffer.alloc(300 * KiB))).status, 201, 'another account');
    all[0]?.socket.destroy();
    assert.equal((await app.put(id, 'z', Buffer.alloc(300 * KiB))).status, 201, 'in the place of who left');
  });

test('slow uploads of many apps of an account leave its person and other accounts their places', async (t) => {
  const all: RawConnection[] = [];
  t.after(() => {
    for (const { socket } of all) socket.destroy();
  });
  const apps: ContentApp[] = [];
  for (let one = 0; one <= OF_APPS / OF_ONE; one += 1) apps.push(await contentApp(world, slow, `sends-${one}`));
  const [last, ...filling] = apps.toReversed();
  assert.ok(last);
  for (const app of filling) for (let one = 0; one < OF_ONE; one += 1) all.push(await uploads.file(app, '', `f${one}`));
  await requireFull(last, [other]);
  const { id } = await other.made('list', 'Meanwhile');
  assert.equal((await other.put(id, 'a', Buffer.alloc(300 * KiB))).status, 201);
  const renamed = await slow.fetch('/v1/account/notification-settings', { method: 'PATCH', body: {} });
  assert.notEqual(renamed.status, 429);
});
