// What is missing is said and never replaced: a database, a data folder, the account that looks after the platform.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { readMarker, writeMarker } from './folder-marker.ts';
import { rememberedPlatform, rememberFolder } from './mounted-folders.ts';
import { openIdentity } from './open-identity.ts';
import { requireFolder } from './require-folder.ts';

const scratch = mkdtempSync(path.join(tmpdir(), 'platform-identity-'));
const list = path.join(scratch, 'state', 'data-folders.json');
const OTHER = '01890000-0000-7000-8000-00000000000a';
let folder: string;
let world: Constellation;

before(async () => {
  world = await startConstellation();
});
beforeEach(async () => {
  folder = mkdtempSync(path.join(scratch, 'folder-'));
  await world.core.context.pool.query('DELETE FROM platform_identity');
});
after(async () => {
  await world.close();
  rmSync(scratch, { recursive: true });
});

const accounts = (known: Readonly<Record<string, string>>, master: string | null = 'alice') => ({
  master: async () => master,
  keyOf: async (name: string) => known[name],
  isAccount: async (key: string) => Object.values(known).includes(key),
  isAny: async () => Object.keys(known).length > 0,
});
const open = (known: Readonly<Record<string, string>> = {}, more: { isNew?: boolean; master?: string } = {}) =>
  openIdentity(world.core.context.database, { folder, isNew: more.isNew ?? false, list }, accounts(known, more.master));

test('database and folder of a first start get one id, and go on together', async () => {
  await open();
  const first = readMarker(folder);
  await open();
  assert.deepEqual(readMarker(folder), first);
  const replica = mkdtempSync(path.join(scratch, 'folder-'));
  folder = replica;
  await open();
  assert.equal(readMarker(replica)?.platform, first?.platform, 'another machine with the same database');
});

test('a folder whose database is another one, or a new one, starts nothing', async () => {
  writeMarker(folder, { platform: OTHER, masterAccount: null });
  await assert.rejects(open(), { code: 'database_other', message: /the database is a new one/ });
  await world.core.context.pool.query('INSERT INTO platform_identity DEFAULT VALUES');
  await assert.rejects(open({ alice: 'a-1' }), { code: 'database_other', message: /that of another platform/ });
  assert.equal(readMarker(folder)?.platform, OTHER, 'and changes nothing');
  await open({}, { isNew: true });
  assert.notEqual(readMarker(folder)?.platform, OTHER);
});

test('a backup of a version without ids is the platform of its folder', async () => {
  writeMarker(folder, { platform: OTHER, masterAccount: null });
  await open({ bob: 'b-1' });
  await open();
});

test('the master account is bound once it is there, and its name is not given to another', async () => {
  const known: Record<string, string> = {};
  const identity = await open(known);
  assert.equal(readMarker(folder)?.masterAccount, null);
  known.alice = 'a-1';
  await identity.noteMaster();
  assert.equal(readMarker(folder)?.masterAccount, 'a-1');
  await assert.rejects(open({ bob: 'b-1' }), { code: 'master_account_missing' });
  await open({ ...known, bob: 'b-1' }, { master: 'bob' });
  assert.equal(readMarker(folder)?.masterAccount, 'b-1', 'the operator named another');
  await open({ alice: 'a-2' }, { isNew: true });
  assert.equal(readMarker(folder)?.masterAccount, 'a-2');
});

test('a marker that cannot be read starts nothing', async () => {
  for (const text of ['', '{}', '{"platform":"x","masterAccount":null}', 'null']) {
    writeFileSync(path.join(folder, 'platform.json'), text);
    await assert.rejects(open(), { code: 'data_folder_unusable' });
  }
});

for (const left of ['master.key', 'packages', 'volumes', 'volumes.known', 'runtime', 'platform.json'])
  test(`a folder with ${left} and without its embedded database is no new one`, () => {
    if (left === 'platform.json') writeMarker(folder, { platform: OTHER, masterAccount: null });
    else mkdirSync(path.join(folder, left));
    const check = { embedded: true, isNew: false, list };
    assert.throws(() => requireFolder(folder, check), { code: 'database_missing' });
    requireFolder(folder, { ...check, isNew: true });
    requireFolder(folder, { ...check, embedded: false });
    mkdirSync(path.join(folder, 'postgres', 'data'), { recursive: true });
    requireFolder(folder, check);
  });

test('a folder on a disk of its own that is empty again is one whose disk is not mounted', () => {
  const check = { embedded: true, isNew: false, list };
  requireFolder(folder, check);
  mkdirSync(path.dirname(list), { recursive: true });
  writeFileSync(list, JSON.stringify({ [folder]: OTHER }));
  assert.equal(rememberedPlatform(list, folder), OTHER);
  for (const embedded of [true, false])
    assert.throws(() => requireFolder(folder, { ...check, embedded }), {
      code: 'data_folder_missing',
      message: /Mount/,
    });
  requireFolder(folder, { ...check, isNew: true });
  writeFileSync(list, 'no json');
  requireFolder(folder, check);
});

test('folders on the disk of the system, and those in memory, are not remembered', () => {
  for (const [place, what] of [
    [path.parse(scratch).root, 'the disk of the system'],
    ['/dev/shm', 'memory'],
  ] as const) {
    rememberFolder(`${list}.other`, place, OTHER);
    assert.equal(rememberedPlatform(`${list}.other`, place), null, what);
  }
});
