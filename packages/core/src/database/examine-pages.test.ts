// Promises of looking at the pages of the database: what a disk altered is named, also while the server still has a whole copy in
// its memory; what an index says against its table as well; and the database is as it was before.
import assert from 'node:assert/strict';
import { closeSync, openSync, readSync, truncateSync, writeSync } from 'node:fs';
import * as path from 'node:path';
import { type TestContext, test } from 'node:test';
import { ask, clusterData, copied, start } from '../../../../tests/support/embedded-postgres.ts';
import { examinePages } from './examine-pages.ts';

async function server(t: TestContext) {
  const dataDir = await copied(t);
  const { url, stop } = await start(t, dataDir);
  await ask(
    url,
    `CREATE TABLE items (id integer PRIMARY KEY, word text);
     INSERT INTO items SELECT n, repeat('word ', 20) || n FROM generate_series(1, 2000) n;
     CREATE TABLE large (value text); ALTER TABLE large ALTER value SET STORAGE EXTERNAL;
     INSERT INTO large SELECT repeat('x', 50000);
     CREATE UNLOGGED TABLE empty (id integer); CHECKPOINT`,
  );
  return { url, data: clusterData(dataDir), dataDir, stop };
}

async function fileOf(url: string, relation: string): Promise<string> {
  const [row] = await ask(url, `SELECT pg_relation_filepath('${relation}') AS file`);
  return String(row?.file);
}

/** Turns a bit of a byte in the middle of a page. */
function alter(file: string, page: number): void {
  const descriptor = openSync(file, 'r+');
  const byte = Buffer.alloc(1);
  const place = page * 8_192 + 5_000;
  readSync(descriptor, byte, 0, 1, place);
  writeSync(descriptor, Buffer.from([(byte[0] ?? 0) ^ 1]), 0, 1, place);
  closeSync(descriptor);
}

test('a whole database has no fault, all of it is counted, and nothing stays of having looked', async (t) => {
  const { url } = await server(t);
  const before = await ask(url, 'SELECT extname FROM pg_extension');
  let last = { done: -1, all: 0 };
  const { checksums, depth, relations, faults } = await examinePages(url, (done, all) => {
    assert.ok(done === last.done + 1);
    last = { done, all };
  });
  assert.deepEqual({ checksums, depth, faults }, { checksums: true, depth: 'all', faults: [] });
  assert.ok(relations > 150 && last.all === relations);
  assert.deepEqual(await ask(url, 'SELECT extname FROM pg_extension'), before);
});

for (const [relation, named, isIndex] of [
  ['items', 'table items', false],
  ['items_pkey', 'index items_pkey', true],
  ['pg_class', 'table pg_class', false],
] as const)
  test(`a page of ${relation} that the disk altered is named, though the server has it whole in its memory`, async (t) => {
    const { url, data } = await server(t);
    await ask(url, 'SELECT count(*), min(word) FROM items');
    alter(path.join(data, await fileOf(url, relation)), 1);
    const { faults } = await examinePages(url);
    assert.deepEqual(faults, [{ relation: named, isIndex, found: 'page 1 on the disk: wrong checksum' }]);
  });

test('large values of a table are named by their table, and of many pages some', async (t) => {
  const { url, data } = await server(t);
  const [row] = await ask(url, "SELECT reltoastrelid::regclass::text AS name FROM pg_class WHERE relname = 'large'");
  const file = path.join(data, await fileOf(url, String(row?.name)));
  for (let page = 0; page < 7; page += 1) alter(file, page);
  const { faults } = await examinePages(url);
  assert.deepEqual(faults, [
    {
      relation: 'large values of table large',
      isIndex: false,
      found: 'pages 0, 1, 2, 3, 4 and 2 more on the disk: wrong checksum',
    },
  ]);
});

test('an index whose order is not that of its keys is named, though its pages are whole', async (t) => {
  const { url } = await server(t);
  // As after a library of the machine changed how it sorts.
  await ask(
    url,
    `CREATE FUNCTION up(int, int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT sign($1 - $2)::int';
     CREATE FUNCTION down(int, int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT sign($2 - $1)::int';
     CREATE OPERATOR CLASS fickle FOR TYPE int USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=,
       OPERATOR 5 >, FUNCTION 1 up(int, int);
     CREATE INDEX sorted ON items (id fickle);
     UPDATE pg_amproc SET amproc = 'down'::regproc WHERE amproc = 'up'::regproc`,
  );
  const { faults } = await examinePages(url);
  assert.deepEqual(
    faults.map(({ relation, isIndex }) => [relation, isIndex]),
    [['index sorted', true]],
  );
  assert.match(faults[0]?.found ?? '', /item order invariant violated/);
});

test('a table whose file was cut is named, though each page that is left is whole', async (t) => {
  const { url, data } = await server(t);
  await ask(url, 'ANALYZE items');
  truncateSync(path.join(data, await fileOf(url, 'items')), 8_192);
  const { faults } = await examinePages(url);
  assert.deepEqual(faults[0]?.relation, 'table items');
  assert.match(faults[0]?.found ?? '', /^1 pages on the disk, and there were \d+/);
});

test('a user of PostgreSQL that is no superuser reads every row that it may', async (t) => {
  const { url, data, dataDir, stop } = await server(t);
  await ask(url, "CREATE ROLE guest LOGIN PASSWORD 'guest'; GRANT SELECT ON items, large TO guest");
  const asGuest = url.replace(/\/\/[^@]+@/, '//guest:guest@');
  const whole = await examinePages(asGuest);
  assert.deepEqual([whole.depth, whole.faults], ['rows', []]);
  const [row] = await ask(url, "SELECT reltoastrelid::regclass::text AS name FROM pg_class WHERE relname = 'large'");
  const file = path.join(data, await fileOf(url, String(row?.name)));
  await stop();
  alter(file, 0);
  const again = await start(t, dataDir);
  const { faults } = await examinePages(again.url.replace(/\/\/[^@]+@/, '//guest:guest@'));
  assert.deepEqual(
    faults.map(({ relation }) => relation),
    ['table large'],
  );
  assert.match(faults[0]?.found ?? '', /invalid page in block 0/);
});
