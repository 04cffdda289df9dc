// The feed of an external search index when a replica is held up: another takes over, no older version overwrites a
// newer one, no update is lost, and no transaction stays open while the feed waits for the index.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { registerAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { moments } from '../../../../tests/support/held-moments.ts';
import { type InstalledTestApp, installTestApp } from '../../../../tests/support/installed-app.ts';
import { type OpenSearchDouble, startOpenSearchDouble } from '../../../../tests/support/opensearch-double.ts';
import { untilFeedCaughtUp } from '../../../../tests/support/search-feed.ts';
import { feedStatus, rebuildFeed } from './manage-feed.ts';

const held = moments();
let double: OpenSearchDouble;
let world: Constellation;
let app: InstalledTestApp;
/** Milliseconds by which the clock of core is ahead. */
let ahead = 0;
before(async () => {
  double = await startOpenSearchDouble();
  world = await startConstellation({
    clock: () => new Date(Date.now() + ahead),
    config: { searchOpenSearch: { address: double.url, auth: null } },
    at: held.at,
  });
  const account = await registerAccount(world, 'handover');
  app = await installTestApp(world, account, 'notes-app', [{ id: 'search.index', resources: ['self'] }]);
  await untilFeedCaughtUp(world.core);
});
after(async () => {
  await world.close();
  await double.close();
});

async function write(title: string): Promise<void> {
  const body = { entries: [{ id: 'a', title, url: '/a' }] };
  const answer = await app.call('/v1/services/search/index', { method: 'POST', body });
  assert.equal(answer.status, 200, answer.text);
}

/** The entry's document in the external index, without its account. */
async function titleThere(): Promise<string | undefined> {
  const { index } = (await feedStatus(world.core.context)) ?? assert.fail('there is no feed');
  const { title = [] } = double.documents(index).get(`${app.installationId}:a`) ?? {};
  return [title].flat()[0]?.replace(/^.*:/, '');
}

const requestsWith = (word: string) => double.requests.filter(({ body }) => body.includes(word)).length;

test('updates that a replica read before it was held up are not sent once another has sent newer ones', async () => {
  const moment = held.hold('search.feed.read');
  await write('olderword');
  await moment.reached;
  const other = await world.replica({ at: () => undefined });
  ahead += 61_000;
  await write('newerword');
  await untilFeedCaughtUp(world.core);
  // Whatever the first one does now, it has done before it takes up anything else.
  await other.stop();
  assert.equal(await titleThere(), 'newerword');
  moment.release();
  await write('newestword');
  await untilFeedCaughtUp(world.core);
  assert.equal(await titleThere(), 'newestword');
  assert.equal(requestsWith('olderword'), 0);
});

test('no transaction is open while the index is waited for', async () => {
  const moment = held.hold('search.feed.sent');
  await write('waitedfor');
  await moment.reached;
  const { rows } = await world.core.context.pool.query(
    "SELECT query FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'",
  );
  assert.deepEqual(rows, []);
  const { rows: locks } = await world.core.context.pool.query(
    "SELECT mode FROM pg_locks WHERE relation IN ('search_feeds'::regclass, 'search_outbox'::regclass)",
  );
  assert.deepEqual(locks, []);
  moment.release();
  await untilFeedCaughtUp(world.core);
});

test('updates that were sent to an index which was given up meanwhile stay pending', async () => {
  const moment = held.hold('search.feed.sent');
  await write('rebuilt');
  await moment.reached;
  ahead += 61_000;
  await rebuildFeed(world.core.context);
  const others = moments();
  const filled = others.hold('search.feed.filled');
  const other = await world.replica({ at: others.at });
  await filled.reached;
  // The entry is pending for the new index, with the sequence under which it was sent to the former one.
  moment.release();
  await world.core.stop();
  filled.release();
  await untilFeedCaughtUp(other);
  const { index } = (await feedStatus(other.context)) ?? assert.fail('there is no feed');
  assert.ok(double.documents(index).has(`${app.installationId}:a`));
});
