// Replicas of core are killed at random moments of publishes with web push: what was accepted reaches the browser at
// least once, and its service worker, which shows an id once, shows each once and in order.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Notification } from '@platform/contract';
import { registerAccount, TestBrowser } from '../support/client.ts';
import { type Constellation, startConstellation } from '../support/constellation.ts';
import { type CoreProcess, startCoreProcess } from '../support/core-process.ts';
import { type InstalledTestApp, installTestApp } from '../support/installed-app.ts';
import { type PushedBrowser, type PushService, startPushService } from '../support/push-service.ts';
import { rawRequest } from '../support/raw-http.ts';
import { randomOf, thorough } from '../support/thorough.ts';
import { until } from '../support/wait.ts';

/** Milliseconds for what kills and a busy machine delay. */
const PATIENCE = 120_000;

const PUBLISHES = thorough(1_000, 2_000);
const KILLS = thorough(4, 8);
/** Each with a browser, so that a killed worker holds several and there are others left for the next. */
const ACCOUNTS = 8;
/** At the same time, for each account. */
const PUBLISHERS = 3;
/** What a killed worker held waits so long. */
const LEASE_MILLISECONDS = 4_000;

interface Publisher {
  readonly name: string;
  readonly app: InstalledTestApp;
  readonly browser: PushedBrowser;
  /** Ids by title. */
  readonly accepted: Map<string, string>;
}

let world: Constellation;
let service: PushService;
let replicas: CoreProcess[];
before(async () => {
  service = await startPushService();
  // The constellation's own core cannot be killed: it sends nothing.
  world = await startConstellation({ config: { vapidSubject: null } });
  replicas = await Promise.all([startReplica(), startReplica()]);
});
after(async () => {
  await Promise.all((replicas ?? []).map((one) => one.stop()));
  await world?.close();
  await service.close();
});

function startReplica(port?: number): Promise<CoreProcess> {
  return startCoreProcess(world, {
    config: { vapidSubject: 'mailto:operator@platform.example', pushPrivateOrigins: [service.origin] },
    push: { ca: service.ca, leaseMilliseconds: LEASE_MILLISECONDS },
    ...(port === undefined ? {} : { port }),
  });
}

async function newPublisher(name: string): Promise<Publisher> {
  const account = await registerAccount(world, name);
  const [replica] = replicas;
  assert.ok(replica !== undefined);
  const page = new TestBrowser(replica);
  page.cookie = account.cookie;
  const { publicKey } = await page.take<{ publicKey: string }>('/v1/push/key');
  const browser = service.newBrowser(publicKey);
  await page.take('/v1/push/subscriptions', { body: browser.body });
  const app = await installTestApp(world, account, 'sender', [{ id: 'notifications.publish', resources: ['*'] }]);
  return { name, app, browser, accepted: new Map() };
}

/** Publishes until a replica has accepted it, under one dedupe key. */
async function publish({ app, accepted }: Publisher, title: string, first: number): Promise<void> {
  for (let attempt = first; ; attempt += 1) {
    const notification = await publishOnce(app, title, attempt);
    if (notification !== null) {
      accepted.set(title, notification.id);
      return;
    }
    // Both may be down: it looks again and again.
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function publishOnce(app: InstalledTestApp, title: string, attempt: number): Promise<Notification | null> {
  const { port, origin } = replicas[attempt % replicas.length] ?? world;
  const headers = {
    host: new URL(origin).host,
    authorization: `Bearer ${app.credential}`,
    'content-type': 'application/json',
  };
  const body = JSON.stringify({ topic: 'news', title, dedupeKey: title, delivery: 'inbox-and-web-push' });
  try {
    const answer = await rawRequest({ port, method: 'POST', path: '/v1/services/notifications', headers, body });
    // 200: the replica that was killed had stored it.
    if (answer.status !== 201 && answer.status !== 200) return null;
    return (answer.json as { notification: Notification }).notification;
  } catch {
    // Killed in the middle: nobody knows whether it was stored.
    return null;
  }
}

/** The next publishes of all accounts; `count` of them in all. */
async function publishSome(publishers: readonly Publisher[], round: number, count: number): Promise<void> {
  let begun = 0;
  const one = async (publisher: Publisher) => {
    while (begun < count) {
      begun += 1;
      await publish(publisher, `${round}-${begun}`, begun);
    }
  };
  await Promise.all(publishers.flatMap((publisher) => Array.from({ length: PUBLISHERS }, () => one(publisher))));
}

/** What its service worker shows: of messages with the same id the first. */
function shown({ received }: PushedBrowser): string[] {
  return [...new Set(received.map(({ payload }) => payload.id))];
}

/** Ids of an account's notifications, oldest first. */
async function stored({ name }: Publisher): Promise<string[]> {
  const { rows } = await world.core.context.pool.query<{ id: string }>(
    'SELECT n.id FROM notifications n JOIN accounts a ON a.key = n.account_key WHERE a.name = $1 ORDER BY n.sequence',
    [name],
  );
  return rows.map(({ id }) => id);
}

test(`of ${PUBLISHES} publishes with web push over ${KILLS} kills, each that was accepted is shown once, in order`, {
  timeout: 180_000,
}, async (context) => {
  const random = randomOf(context);
  const publishers: Publisher[] = [];
  while (publishers.length < ACCOUNTS) publishers.push(await newPublisher(`pushed-n${publishers.length}`));
  const total = () => publishers.reduce((sum, { accepted }) => sum + accepted.size, 0);
  const perRound = PUBLISHES / KILLS;
  for (let kill = 0; kill < KILLS; kill += 1) {
    const target = total() + Math.floor(random() * perRound);
    const publishing = publishSome(publishers, kill, perRound);
    await until(`${target} to be accepted`, () => total() >= target, PATIENCE);
    const place = kill % replicas.length;
    const victim = replicas[place];
    assert.ok(victim !== undefined);
    await victim.kill();
    // The other one goes on meanwhile.
    const restarted = startReplica(victim.port);
    await publishing;
    replicas[place] = await restarted;
  }
  assert.equal(total(), PUBLISHES);
  await until(
    'all that was accepted to be shown',
    () => publishers.every(({ accepted, browser }) => shown(browser).length >= accepted.size),
    PATIENCE,
  );
  for (const publisher of publishers) {
    const ids = await stored(publisher);
    assert.deepEqual(new Set(ids), new Set(publisher.accepted.values()), 'what was accepted is stored, once');
    assert.deepEqual(shown(publisher.browser), ids, 'and shown, once and in order');
  }
  assert.deepEqual(service.faults, []);
  const messages = publishers.reduce((sum, { browser }) => sum + browser.received.length, 0);
  context.diagnostic(`${total()} accepted, all shown, ${messages - total()} of them sent more than once`);
});
