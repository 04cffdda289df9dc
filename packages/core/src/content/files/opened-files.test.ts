// Files that others opened to a person: paged by the database, bounded for each owner and in sum, and given up one by one or as a whole.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { limits, type PickableFile } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../../tests/support/constellation.ts';
import { type InstalledTestApp, installTestApp } from '../../../../../tests/support/installed-app.ts';
import { problemCode, type RawAnswer } from '../../../../../tests/support/raw-http.ts';
import { fileCaller } from '../../../test-support/files.ts';

const APP = 'opens-files';

let world: Constellation;
let named: TestAccount;
let reader: InstalledTestApp;
let stranger: InstalledTestApp;
let friend: InstalledTestApp;

before(async () => {
  world = await startConstellation();
  named = await registerAccount(world, 'is-named');
  reader = await installTestApp(world, named, 'reads-files', []);
  stranger = await installTestApp(world, await registerAccount(world, 'opens-many'), APP, []);
  friend = await installTestApp(world, await registerAccount(world, 'opens-some'), APP, []);
});
after(() => world.close());

async function opened(app: InstalledTestApp, name: string, access = 'read'): Promise<RawAnswer> {
  const path = `/v1/services/files/${encodeURIComponent(name)}`;
  const written = await app.call(path, {
    method: 'PUT',
    body: Buffer.from(name),
    headers: { 'content-type': 'text/plain' },
  });
  assert.ok(written.status < 300, written.text);
  const entries = [{ principal: { account: 'is-named' }, access }];
  return app.call(`${path}/access`, { method: 'PUT', body: { entries } });
}

/** All pages of a list, each of so many. */
async function paged(limit: number, more = ''): Promise<PickableFile[]> {
  const all: PickableFile[] = [];
  for (let cursor = ''; ; ) {
    const page: { items: PickableFile[]; nextCursor: string | null } = await named.browser.take(
      `/v1/account/files?limit=${limit}${more}${cursor}`,
    );
    assert.ok(page.items.length <= limit);
    all.push(...page.items);
    if (page.nextCursor === null) return all;
    cursor = `&cursor=${page.nextCursor}`;
  }
}

const leave = (query: string) => named.fetch(`/v1/account/files?${query}`, { method: 'DELETE' });

test('pages of any size have every file once: those of the account by name, then those of others', async () => {
  const files = await fileCaller(world, named);
  for (const name of ['c.txt', 'a.txt', 'b.txt'])
    await files(`/v1/services/user-files?name=${name}`, { method: 'POST', body: Buffer.from(name) });
  for (const name of ['x', 'y']) assert.equal((await opened(friend, name)).status, 200);
  assert.equal((await opened(stranger, 'z', 'write')).status, 200);
  const expected = ['a.txt', 'b.txt', 'c.txt', 'x', 'y', 'z'];
  for (const limit of [1, 2, 3, 4, 5, 6, 200]) {
    const all = await paged(limit);
    assert.deepEqual(all.map(({ name }) => name).toSorted(), expected);
    assert.deepEqual(
      all.slice(0, 3).map(({ name }) => name),
      expected.slice(0, 3),
    );
    assert.deepEqual(
      all.map(({ own }) => own),
      [true, true, true, false, false, false],
    );
    const ofOthers = await paged(limit, '&of=others');
    assert.deepEqual(
      ofOthers.map(({ id }) => id),
      all.slice(3).map(({ id }) => id),
    );
  }
});

test('a stranger opens so many files to one account and no more, by whichever of their apps', async () => {
  const { pool } = world.core.context;
  const most = limits.filesOpenedToOne.value;
  // As if it had opened the rest of them.
  await pool.query(
    `WITH body AS (
       INSERT INTO content_bodies (id, space_id, size, used, created_at)
       SELECT 'bdy-many', space_id, 0, true, now() FROM content_files WHERE installation_id = $1 LIMIT 1 RETURNING space_id),
     added AS (
       INSERT INTO content_files (id, space_id, installation_id, name, media_type, etag, size, body_id, created_at, changed_at)
       SELECT 'fil-' || gen_random_uuid(), space_id, $1, 'many ' || n, 'text/plain', n::text, 0, 'bdy-many', now(), now()
         FROM body, generate_series(1, $2::integer) n RETURNING id)
     INSERT INTO content_file_entries (file_id, owner_key, account_key, access)
     SELECT added.id, i.account_key, a.key, 'read' FROM added, installations i, accounts a
      WHERE i.id = $1 AND a.name = 'is-named'`,
    [stranger.installationId, most - 1],
  );
  assert.equal(problemCode(await opened(stranger, 'one more')), 'not_authorized');
  assert.equal((await opened(stranger, 'z', 'read')).status, 200, 'what is open already stays so');
  assert.equal((await opened(friend, 'another')).status, 200, 'others may go on');
  assert.equal((await paged(200, '&of=others')).length, most + 3);
});

test('a person gives up one file, or all of an owner, and their apps lose them', async () => {
  const [file] = (await paged(200, '&of=others')).filter(({ name }) => name === 'x');
  assert.ok(file);
  const handed = await named.fetch(`/v1/account/files/${file.id}/apps`, {
    body: { appId: 'reads-files', access: 'read' },
  });
  assert.equal(handed.status, 201);
  assert.equal((await reader.call(`/v1/services/files/shared/${file.id}`)).text, 'x');
  assert.equal((await leave(`id=${file.id}`)).status, 204);
  assert.equal(problemCode(await reader.call(`/v1/services/files/shared/${file.id}`)), 'not_found');
  assert.equal(problemCode(await leave(`id=${file.id}`)), 'not_found');
  assert.equal((await leave('from=opens-many')).status, 204);
  assert.deepEqual((await paged(200, '&of=others')).map(({ name }) => name).toSorted(), ['another', 'y']);
  assert.equal(problemCode(await leave('from=opens-many')), 'not_found');
  assert.equal(problemCode(await leave('from=nobody-here')), 'not_found');
  for (const query of ['', `id=${file.id}&from=opens-some`, 'from=%00', 'id=..'])
    assert.equal(problemCode(await leave(query)), 'invalid_request', query);
  // What they give up is not theirs to give up where it is their own.
  const [own] = await paged(1);
  assert.equal(problemCode(await leave(`id=${own?.id}`)), 'not_found');
  assert.equal((await opened(stranger, 'again')).status, 200);
});

test('a name that is taken gets a number, and no half of a character', async () => {
  const files = await fileCaller(world, named);
  const add = async (name: string) => {
    const path = `/v1/services/user-files?name=${encodeURIComponent(name)}`;
    const answer = await files(path, { method: 'POST', body: Buffer.from('x') });
    assert.equal(answer.status, 201, answer.text);
    return (answer.json as { file: { name: string } }).file.name;
  };
  for (const name of [
    `${'x'.repeat(185)}${'🙂'.repeat(5)}.txt`,
    `${'🙂'.repeat(95)}.jpg`,
    `a${'🙂'.repeat(95)}.jpg`,
    `x.${'y'.repeat(198)}`,
  ]) {
    assert.equal(await add(name), name);
    const names = [name, await add(name), await add(name)];
    assert.equal(new Set(names).size, 3);
    for (const one of names)
      assert.ok(one.isWellFormed() && one.length <= limits.fileName.value && !one.includes('\ufffd'), one);
  }
});
