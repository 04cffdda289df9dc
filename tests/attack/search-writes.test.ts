// One account writes search indexes as large as it may, from many apps at once: others wait for one of its pieces, not for
// its work; what nobody waits for any more ends; and nothing within the limits is a failure of the platform.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { limits } from '@platform/contract';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type Constellation, startConstellation } from '../support/constellation.ts';
import { type InstalledTestApp, installTestApp } from '../support/installed-app.ts';
import { problemCode, type RawAnswer } from '../support/raw-http.ts';
import { thorough } from '../support/thorough.ts';
import { until } from '../support/wait.ts';

const INDEX = '/v1/services/search/index';
const APPS = 5;
const OF_DATABASE = 'database = (SELECT oid FROM pg_database WHERE datname = current_database())';

let world: Constellation;
let greedy: TestAccount;
let apps: InstalledTestApp[];
let modest: InstalledTestApp;

const withIndex = (account: TestAccount, appId: string) =>
  installTestApp(world, account, appId, [{ id: 'search.index', resources: ['self'] }]);

before(async () => {
  world = await startConstellation();
  greedy = await registerAccount(world, 'greedy');
  apps = [];
  for (let count = 0; count < APPS; count += 1) apps.push(await withIndex(greedy, `greedy-${count}`));
  modest = await withIndex(await registerAccount(world, 'modest'), 'modest-app');
});
after(() => world.close());

let words = 0;
/** Words that no index has seen: each is a row. */
function newWords(bytes: number): string {
  let text = '';
  while (text.length < bytes) {
    words += 1;
    text += `w${words.toString(26).replace(/\d/g, (digit) => 'qrstuvwxyz'.charAt(Number(digit)))} `;
  }
  return text;
}

/** As many entries as a request may have, that have to be written anew each time. */
const entriesOf = (count: number, bytes: number) =>
  Array.from({ length: count }, (_, id) => ({ id: `e${id}`, title: 'entry', url: `/${id}`, text: newWords(bytes) }));

const indexed = async (app: InstalledTestApp): Promise<number> => {
  const { rows } = await world.core.context.pool.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM search_entries WHERE installation_id = $1',
    [app.installationId],
  );
  return rows[0]?.count ?? 0;
};

/** A busy machine needs longer than anybody waits: what is asked for again later. */
const isPatience = (answer: RawAnswer): boolean =>
  ['concurrency_limited', 'unavailable'].includes(problemCode(answer) ?? '');

const small = { entries: [{ id: 'one', title: 'modest words', url: '/one' }] };

test('others write at once while one account writes all it may from many apps', async () => {
  let ended = 0;
  const writes = apps.map((app) =>
    app.call(INDEX, { method: 'PUT', body: { entries: entriesOf(150, 2_000) } }).finally(() => {
      ended += 1;
    }),
  );
  const { pool } = world.core.context;
  const holding = async () =>
    (
      await pool.query(
        `SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1 AND ${OF_DATABASE}`,
      )
    ).rowCount ?? 0;
  await until('the first write to be under way', async () => (await holding()) > 0, 20_000);
  for (let count = 0; count < 5; count += 1)
    assert.equal((await modest.call(INDEX, { method: 'POST', body: small })).status, 200);
  assert.ok(ended < APPS, 'the small writes did not wait for the large ones');
  for (const answer of await Promise.all(writes)) assert.ok(answer.status === 200 || isPatience(answer), answer.text);
});

test('a write whose caller has gone ends, changes nothing, and leaves its turn to the next', async () => {
  const [app] = apps as [InstalledTestApp];
  await app.call(INDEX, { method: 'DELETE' });
  const leaving = http.request({
    port: world.port,
    path: INDEX,
    method: 'PUT',
    headers: {
      host: new URL(world.origin).host,
      authorization: `Bearer ${app.credential}`,
      'content-type': 'application/json',
    },
  });
  const gone = once(leaving, 'error');
  leaving.end(JSON.stringify({ entries: entriesOf(4_000, 2_500) }));
  const { pool } = world.core.context;
  const writing = async () =>
    (
      await pool.query(
        "SELECT FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%search_entries%' AND state <> 'idle' AND pid <> pg_backend_pid()",
      )
    ).rowCount ?? 0;
  await until('it to be written', async () => (await writing()) > 0, 60_000);
  leaving.destroy(new Error('gone'));
  await gone;
  assert.equal((await app.call(INDEX, { method: 'POST', body: small })).status, 200);
  assert.equal(await indexed(app), 1, 'nothing of the write remains');
});

test('the largest bodies are indexed or refused, also where every word is replaced', async () => {
  const [app] = apps as [InstalledTestApp];
  for (let round = 0; round < 2; round += 1) {
    const answer = await app.call(INDEX, {
      method: 'PUT',
      body: { entries: entriesOf(thorough(200, limits.searchEntries.value), 2_800) },
    });
    assert.ok(answer.status === 200 || isPatience(answer), answer.text);
  }
});
