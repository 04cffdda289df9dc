// The export of an account has its files and those of its apps, with their bytes; and whoever writes one meanwhile breaks nothing.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { UserFile } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../../tests/support/constellation.ts';
import {
  type CallSettings,
  type InstalledTestApp,
  installTestApp,
} from '../../../../../tests/support/installed-app.ts';
import type { RawAnswer } from '../../../../../tests/support/raw-http.ts';
import { type ContentApp, contentApp, share } from '../../../test-support/content.ts';
import { fileCaller } from '../../../test-support/files.ts';
import type { AccountFile } from '../../account-files.ts';
import { contentFiles } from './account-files.ts';
import { archived } from './staged-body.ts';

const MiB = 1_048_576;
const BYTES = { 'content-type': 'application/octet-stream' };

let world: Constellation;
let ada: TestAccount;
let ben: TestAccount;
let diary: InstalledTestApp;
let bens: InstalledTestApp;
let hers: (path: string, settings?: CallSettings) => Promise<RawAnswer>;

before(async () => {
  world = await startConstellation();
  ada = await registerAccount(world, 'ada-leaves');
  ben = await registerAccount(world, 'ben-stays');
  diary = await installTestApp(world, ada, 'diary-files', []);
  bens = await installTestApp(world, ben, 'diary-files', []);
  hers = await fileCaller(world, ada);
});
after(() => world.close());

async function upload(name: string, body: Buffer): Promise<UserFile> {
  const path = `/v1/services/user-files?name=${encodeURIComponent(name)}`;
  const answer = await hers(path, { method: 'POST', body, headers: { 'content-type': 'image/png' } });
  assert.equal(answer.status, 201, answer.text);
  return (answer.json as { file: UserFile }).file;
}

async function wrote(app: InstalledTestApp, name: string, body: Buffer): Promise<void> {
  const answer = await app.call(`/v1/services/files/${name}`, { method: 'PUT', body, headers: BYTES });
  assert.ok(answer.status < 300, answer.text);
}

async function exported(account: TestAccount): Promise<AsyncGenerator<AccountFile>> {
  const { rows } = await world.core.context.pool.query<{ key: string }>('SELECT key FROM accounts WHERE name = $1', [
    account.name,
  ]);
  return contentFiles(world.core.context, rows[0]?.key ?? assert.fail());
}

async function bytesOf({ content }: AccountFile): Promise<Buffer> {
  if (Buffer.isBuffer(content)) return content;
  const pieces: Buffer[] = [];
  for await (const piece of content.open()) pieces.push(piece as Buffer);
  const bytes = Buffer.concat(pieces);
  assert.equal(bytes.length, content.bytes);
  return bytes;
}

async function archiveOf(account: TestAccount): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  for await (const file of await exported(account)) {
    assert.ok(!files.has(file.path), file.path);
    files.set(file.path, await bytesOf(file));
  }
  return files;
}

/** Of the lists beside files and items, whichever it is. */
interface Listed {
  readonly name?: string;
  readonly key?: string;
  readonly file: string | null;
  readonly type?: string;
  readonly size: number;
  readonly from?: string;
  readonly access?: unknown;
  readonly handedTo?: unknown;
}

const lines = (files: Map<string, Buffer>, path: string): Listed[] =>
  String(files.get(path) ?? assert.fail(`${path} of ${[...files.keys()].join(', ')}`))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

test('files of the account and of its apps are there with their names, types, bytes and whom they are open to', async () => {
  const picture = randomBytes(3 * MiB);
  const handed = await upload('holiday.png', picture);
  await upload('Holiday.png', Buffer.from('another'));
  await upload('a:b.png', Buffer.alloc(0));
  const given = await ada.fetch(`/v1/account/files/${handed.id}/apps`, {
    body: { appId: 'diary-files', access: 'read' },
  });
  assert.equal(given.status, 201, given.text);
  await wrote(diary, 'today.txt', Buffer.from('It rained.'));
  const access = await diary.call('/v1/services/files/today.txt/access', {
    method: 'PUT',
    body: { entries: [{ principal: { account: 'ben-stays' }, access: 'write' }] },
  });
  assert.equal(access.status, 200, access.text);
  const files = await archiveOf(ada);
  const own = lines(files, 'files-0001.jsonl');
  assert.deepEqual(
    own.map(({ name, file, type, size }) => [name, file, type, size]),
    [
      ['Holiday.png', 'files/Holiday.png', 'image/png', 7],
      ['a:b.png', 'files/a%3Ab.png', 'image/png', 0],
      ['holiday.png', 'files/holiday (2).png', 'image/png', picture.length],
    ],
  );
  assert.deepEqual(
    own.map(({ access: entries }) =>
      (entries as { app: string; access: string }[]).map((one) => [one.app, one.access]),
    ),
    [[], [], [['diary-files', 'read']]],
  );
  assert.deepEqual(files.get('files/holiday (2).png'), picture);
  assert.deepEqual(files.get('files/a%3Ab.png'), Buffer.alloc(0));
  const [ofApp] = lines(files, 'apps/diary-files/files-0001.jsonl');
  assert.deepEqual(
    [ofApp?.name, ofApp?.file, ofApp?.access],
    ['today.txt', 'files/today.txt', [{ account: 'ben-stays', access: 'write' }]],
  );
  assert.equal(String(files.get('apps/diary-files/files/today.txt')), 'It rained.');

  const bens = await archiveOf(ben);
  const [fromAda] = lines(bens, 'files-of-others-0001.jsonl');
  assert.deepEqual(
    [fromAda?.name, fromAda?.from, fromAda?.access, fromAda?.handedTo],
    ['today.txt', 'ada-leaves', 'write', []],
  );
  assert.ok(![...bens.values()].some((content) => content.includes('It rained.')), 'the bytes are of others');
});

test('what is replaced while it is read is in the archive as it is then, and what is deleted is left out', async () => {
  const [first, second] = [Buffer.alloc(2 * MiB, 'first'), Buffer.alloc(2 * MiB, 'second')];
  await wrote(bens, 'a', first);
  await wrote(bens, 'b', first);
  await wrote(bens, 'c', first);
  const archive = await exported(ben);
  const seen = new Map<string, Buffer>();
  for await (const file of archive) {
    if (file.path === 'apps/diary-files/files/a') {
      await wrote(bens, 'a', second);
      await wrote(bens, 'b', second);
      assert.equal((await bens.call('/v1/services/files/c', { method: 'DELETE' })).status, 204);
    }
    seen.set(file.path, await bytesOf(file));
  }
  assert.deepEqual(seen.get('apps/diary-files/files/a'), first, 'what was begun is read to its end');
  assert.deepEqual(seen.get('apps/diary-files/files/b'), second);
  assert.deepEqual(
    lines(seen, 'apps/diary-files/files-0001.jsonl').map(({ name }) => name),
    ['a', 'b'],
  );
});

test('of what is written again whenever it is read, the list says that the archive has no bytes', async () => {
  const [real] = (
    await world.core.context.pool.query<{ id: string; size: number }>(
      'SELECT id, size::float8 AS size FROM content_bodies WHERE used AND size > $1 LIMIT 1',
      [MiB],
    )
  ).rows;
  const gone = { id: 'bdy-gone', size: 2 * MiB };
  const result = async (bodies: readonly (typeof gone)[]) => {
    let at = 0;
    const read = async () => bodies[Math.min(at++, bodies.length - 1)];
    const writing = archived(world.core.context, { path: 'x', read, bodyOf: (body) => body });
    let step = await writing.next();
    const paths: string[] = [];
    for (; step.done !== true; step = await writing.next()) paths.push(step.value.path);
    return [paths, step.value?.written];
  };
  assert.deepEqual(await result([gone]), [[], false]);
  assert.deepEqual(await result([{ ...gone, size: 1 }]), [[], false]);
  assert.deepEqual(await result([gone, gone, real ?? assert.fail()]), [['x'], true]);
});

test('collections say which apps use them; those of others too', async () => {
  const mine: ContentApp = await contentApp(world, ada, 'list-leaves');
  const his: ContentApp = await contentApp(world, ben, 'list-leaves');
  const list = await mine.made('list', 'Groceries');
  const large = randomBytes(2 * MiB);
  await mine.wrote(list.id, 'photo', large);
  await share(mine, his, list.id, 'editor');
  const files = await archiveOf(ada);
  const shown = JSON.parse(String(files.get(`collections/${list.id}/collection.json`)));
  assert.deepEqual(shown.apps, ['list-leaves']);
  assert.deepEqual(
    lines(files, `collections/${list.id}/items-0001.jsonl`).map(({ key, file }) => [key, file]),
    [['photo', 'items/00001']],
  );
  assert.deepEqual(files.get(`collections/${list.id}/items/00001`), large);
  const [theirs] = JSON.parse(String((await archiveOf(ben)).get('collections-of-others.json')));
  assert.deepEqual([theirs.name, theirs.role, theirs.apps], ['Groceries', 'editor', ['list-leaves']]);
});

test('the size beforehand counts them', async () => {
  const before = await ada.browser.take<{ contentBytes: number }>('/v1/account/disk/use');
  await upload('more', Buffer.alloc(100_000));
  const now = await ada.browser.take<{ contentBytes: number }>('/v1/account/disk/use');
  assert.ok(now.contentBytes - before.contentBytes >= 100_000);
});
