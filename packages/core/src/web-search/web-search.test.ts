// An agent searches the web with the consent of its person, which core asks for; no other app does, and nothing outlives the consent.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { type AgentView, limits } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { openEvents } from '../../../../tests/support/event-reader.ts';
import { type InstalledTestApp, installTestApp } from '../../../../tests/support/installed-app.ts';
import { problemCode, type RawAnswer } from '../../../../tests/support/raw-http.ts';
import { until } from '../../../../tests/support/wait.ts';
import { declareAgent } from '../../test-support/agents.ts';
import { type FakeEngine, startFakeEngine } from '../../test-support/fake-engine.ts';
import type { ProvenTime } from '../clock/clock-guard.ts';
import { defaultRates } from '../config/rates.ts';
import { sweepBuckets } from '../http/rates/idle-buckets.ts';

const ITEM = { title: 'Ficus', url: 'https://plants.example/ficus', snippet: 'Water it.' };

let folder: string;
let fake: FakeEngine;
let world: Constellation;
let person: TestAccount;
let agent: InstalledTestApp;
let time = 0;
let accounts = 0;
before(async () => {
  fake = await startFakeEngine();
  fake.results = [{ title: ITEM.title, url: ITEM.url, text: ITEM.snippet }];
  folder = await mkdtemp(path.join(tmpdir(), 'web-search-'));
  const webSearchFile = path.join(folder, 'engine.json');
  await writeFile(webSearchFile, JSON.stringify({ kind: 'searxng', url: fake.origin }));
  const { webSearch, webSearchDay } = defaultRates;
  const clock = () => new Date(Date.now() + time);
  world = await startConstellation({ config: { webSearchFile }, rates: { webSearch, webSearchDay }, clock });
});
after(async () => {
  await world?.close();
  await fake?.close();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  time = 0;
  fake.seen.length = 0;
  accounts += 1;
  person = await registerAccount(world, `asked-${accounts}`);
  agent = await installTestApp(world, person, `agent-${accounts}`, []);
  await declareAgent(world, agent.appId);
});

const search = (query = 'ficus', session = 's1', by = agent): Promise<RawAnswer> =>
  by.call('/v1/services/web-search', { body: { query, count: 5, session } });
const view = () => person.browser.take<AgentView>(`/v1/apps/${agent.appId}/agent`);
const answer = (id: string, said: string, by = person) =>
  by.fetch(`/v1/apps/${agent.appId}/agent/web-search/${id}`, { body: { answer: said } });

/** The search that waits for the person. */
async function asked(query = 'ficus'): Promise<string> {
  let id: string | undefined;
  await until('the question', async () => {
    id = (await view()).waiting.find((one) => one.query === query)?.id;
    return id !== undefined;
  });
  return id ?? assert.fail();
}

/** Searches, and says this to the question. */
async function searchWith(said: string, query = 'ficus', session = 's1'): Promise<RawAnswer> {
  const searching = search(query, session);
  assert.equal((await answer(await asked(query), said)).status, 200);
  return searching;
}

function found(reply: RawAnswer): void {
  assert.deepEqual([reply.status, reply.json], [200, { items: [ITEM] }]);
}

test('nothing is sent before the person allows it, and what they read is what is sent', async () => {
  const query = 'my \u202Esecret\u202C & "plan" 🌱';
  const searching = search(query);
  const id = await asked(query);
  assert.equal(fake.seen.length, 0);
  const { waiting, webSearch } = await view();
  assert.deepEqual(
    waiting.map((one) => [one.query, one.session]),
    [[query, 's1']],
  );
  assert.deepEqual(webSearch, { consent: false, version: 0, changedAt: null });
  await answer(id, 'once');
  found(await searching);
  assert.deepEqual(
    fake.seen.map((one) => one.query.get('q')),
    [query],
  );
  assert.deepEqual((await view()).waiting, []);
});

test('once is once', async () => {
  found(await searchWith('once'));
  const again = search('again');
  await answer(await asked('again'), 'deny');
  assert.equal(problemCode(await again), 'consent_denied');
  assert.equal(fake.seen.length, 1);
});

test('for a session: until another one, a day later, or until it is taken back', async () => {
  found(await searchWith('session'));
  found(await search('second'));
  const other = search('of another session', 's2');
  await answer(await asked('of another session'), 'deny');
  assert.equal(problemCode(await other), 'consent_denied');
  time = limits.webSearchSessionSeconds.value * 1_000;
  const late = search('a day later');
  await answer(await asked('a day later'), 'deny');
  assert.equal(problemCode(await late), 'consent_denied');
  time = 0;
  found(await search('third'));
  const { webSearch } = await person.browser.take<AgentView>(`/v1/apps/${agent.appId}/agent/web-search`, {
    method: 'DELETE',
  });
  assert.deepEqual([webSearch.consent, webSearch.version], [false, 1]);
  const after = search('after');
  await answer(await asked('after'), 'deny');
  assert.equal(problemCode(await after), 'consent_denied');
});

test('always: a versioned consent of this agent alone, until it is taken back', async () => {
  const waiting = search('waits as well', 's9');
  await asked('waits as well');
  found(await searchWith('always'));
  found(await waiting);
  found(await search('any', 's3'));
  const { webSearch } = await view();
  assert.deepEqual([webSearch.consent, webSearch.version], [true, 1]);
  assert.ok(webSearch.changedAt !== null);
  await person.browser.take(`/v1/apps/${agent.appId}/agent/web-search`, { method: 'DELETE' });
  const revoked = search('after');
  await answer(await asked('after'), 'deny');
  assert.equal(problemCode(await revoked), 'consent_denied');
  const { webSearch: last } = await view();
  assert.deepEqual([last.consent, last.version], [false, 2]);
});

for (const said of ['always', 'session']) {
  test(`an agent that is removed and installed again asks again, after: ${said}`, async () => {
    found(await searchWith(said));
    const { version } = (await view()).webSearch;
    await person.fetch(`/v1/apps/${agent.appId}`, { method: 'DELETE' });
    await declareAgent(world, agent.appId, {}, 'node');
    agent = await installTestApp(world, person, agent.appId, []);
    await declareAgent(world, agent.appId);
    const searching = search();
    await answer(await asked(), 'deny');
    assert.equal(problemCode(await searching), 'consent_denied');
    assert.equal((await view()).webSearch.version, version === 0 ? 0 : version + 1);
  });
}

for (const kind of ['webSearch', 'webSearchDay']) {
  test(`all agents of an account share a quota, which what is denied leaves as it was: ${kind}`, async () => {
    found(await searchWith('always'));
    const { pool } = world.core.context;
    const tokens = async () => {
      const { rows } = await pool.query<{ tokens: number }>(
        'SELECT b.tokens FROM rate_buckets b JOIN accounts a ON a.key = b.subject WHERE b.kind = $1 AND a.name = $2',
        [kind, `asked-${accounts}`],
      );
      return rows[0]?.tokens;
    };
    await person.browser.take(`/v1/apps/${agent.appId}/agent/web-search`, { method: 'DELETE' });
    const before = await tokens();
    assert.equal(problemCode(await searchWith('deny', 'denied')), 'consent_denied');
    assert.equal(await tokens(), before);
    // Ahead of the clock, so that nothing comes back meanwhile.
    await pool.query(
      `UPDATE rate_buckets SET tokens = 0, at = now() + interval '3 minutes'
        WHERE kind = $1 AND subject = (SELECT key FROM accounts WHERE name = $2)`,
      [kind, `asked-${accounts}`],
    );
    const other = await installTestApp(world, person, `second-${kind.toLowerCase()}`, []);
    await declareAgent(world, other.appId);
    for (const by of [agent, other]) {
      const searching = search('one more', 's1', by);
      await until('the question', async () => {
        const { waiting } = await person.browser.take<AgentView>(`/v1/apps/${by.appId}/agent`);
        const [first] = waiting;
        if (first !== undefined)
          await person.fetch(`/v1/apps/${by.appId}/agent/web-search/${first.id}`, { body: { answer: 'once' } });
        return first !== undefined;
      });
      const reply = await searching;
      assert.equal(problemCode(reply), 'rate_limited');
      assert.ok(Number(reply.headers['retry-after']) > 0);
    }
    assert.equal(fake.seen.length, 1);
  });
}

test('the quota of a day does not come back early, as that of a minute does', async () => {
  found(await searchWith('always'));
  const { pool } = world.core.context;
  const account = `asked-${accounts}`;
  const kinds = async () => {
    const { rows } = await pool.query<{ kind: string }>(
      `SELECT b.kind FROM rate_buckets b JOIN accounts a ON a.key = b.subject
        WHERE b.kind LIKE 'webSearch%' AND a.name = $1 ORDER BY b.kind`,
      [account],
    );
    return rows.map(({ kind }) => kind);
  };
  const sweptAfter = (minutes: number) =>
    sweepBuckets(world.core.context, defaultRates, new Date(Date.now() + minutes * 60_000) as ProvenTime);
  assert.deepEqual(await kinds(), ['webSearch', 'webSearchDay']);
  await sweptAfter(90);
  assert.deepEqual(await kinds(), ['webSearchDay']);
  await sweptAfter(1_441);
  assert.deepEqual(await kinds(), []);
});

test('only an agent that declares it, and no page of one', async () => {
  const other = await installTestApp(world, person, `plain-${accounts}`, []);
  assert.equal(problemCode(await search('x', 's', other)), 'not_authorized');
  await declareAgent(world, other.appId, { webSearch: false });
  assert.equal(problemCode(await search('x', 's', other)), 'not_authorized');
  await declareAgent(world, other.appId, { webSearch: 'true' });
  assert.equal(problemCode(await search('x', 's', other)), 'not_authorized');
  await declareAgent(world, other.appId, { webSearch: true }, 'node');
  assert.equal(problemCode(await search('x', 's', other)), 'not_authorized');
  const page = await agent.openFrontend();
  const fromPage = await page.call('/v1/services/web-search', { body: { query: 'x', session: 's' } });
  assert.equal(fromPage.status, 403);
  assert.equal((await person.fetch(`/v1/apps/plain-${accounts}/agent`)).status, 404);
  assert.equal(fake.seen.length, 0);
});

test('nobody else answers, and nobody answers twice', async () => {
  const searching = search();
  const id = await asked();
  const stranger = await registerAccount(world, `stranger-${accounts}`);
  assert.equal((await answer(id, 'always', stranger)).status, 404);
  for (const said of ['yes', '', null, true])
    assert.equal(problemCode(await answer(id, said as string)), 'invalid_request');
  const both = await Promise.all([answer(id, 'deny'), answer(id, 'always')]);
  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 404]);
  await searching;
  assert.equal((await answer(id, 'once')).status, 404);
});

test('at most so many wait for the person; who leaves is asked about no more', async () => {
  const many = Array.from({ length: limits.webSearchesWaiting.value }, (_, n) => search(`q${n}`));
  await until('all of them', async () => (await view()).waiting.length === many.length);
  assert.equal(problemCode(await search('one more')), 'concurrency_limited');
  await person.fetch(`/v1/apps/${agent.appId}`, { method: 'DELETE' });
  for (const one of many) assert.notEqual((await one).status, 200);
  const { rows } = await world.core.context.pool.query('SELECT FROM web_search_requests WHERE installation_id = $1', [
    agent.installationId,
  ]);
  assert.equal(rows.length, 0);
  assert.equal(fake.seen.length, 0);
});

test('bad searches', async () => {
  for (const body of [
    {},
    { query: '', session: 's' },
    { query: ' \u200B', session: 's' },
    { query: 'x'.repeat(limits.webSearchQuery.value + 1), session: 's' },
    { query: 'x\u0000', session: 's' },
    { query: 'x' },
    { query: 'x', session: '../s' },
    { query: 'x', session: 's', count: 0 },
    { query: 'x', session: 's', count: limits.webSearchItems.value + 1 },
    { query: 'x', session: 's', url: 'https://a.example' },
  ])
    assert.equal(
      problemCode(await agent.call('/v1/services/web-search', { body })),
      'invalid_request',
      JSON.stringify(body),
    );
  assert.equal(fake.seen.length, 0);
});

test('asked at one core and answered at another; every window of the account learns of it', async () => {
  const config = { ...world.core.context.config, listenPort: 0 };
  const { port } = await world.replica({ config });
  const headers = { host: new URL(world.origin).host, cookie: person.cookie };
  const stream = await openEvents({ port, path: '/v1/events', headers });
  const told = (times: number) =>
    stream.until(({ events }) => events.filter(({ event }) => event === 'agent').length >= times);
  const searching = search();
  await told(1);
  assert.deepEqual(stream.events.at(-1)?.data, { appId: agent.appId });
  // A page that opens later learns of what waits.
  const later = await openEvents({ port, path: '/v1/events', headers });
  await later.until(({ events }) => events.some(({ event }) => event === 'agent'));
  await answer(await asked(), 'once');
  found(await searching);
  stream.close();
  later.close();
});
