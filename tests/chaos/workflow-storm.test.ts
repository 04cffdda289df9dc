// Many workflows of several apps, each in two processes behind its Gateway, while PostgreSQL is killed or restarted every few
// seconds and processes of the apps are killed: all of them end, and nothing happens twice at a sink that knows its
// idempotency keys.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { gatewayPlace } from '../support/app-gateway.ts';
import type { Child } from '../support/child.ts';
import { registerAccount } from '../support/client.ts';
import { type Constellation, startConstellation } from '../support/constellation.ts';
import { type CoreProcess, startCoreProcess } from '../support/core-process.ts';
import { freePort } from '../support/free-port.ts';
import { startGatewayProcess } from '../support/gateway-process.ts';
import { installTestApp } from '../support/installed-app.ts';
import { type MortalPostgres, startMortalPostgres } from '../support/mortal-postgres.ts';
import { randomOf, thorough } from '../support/thorough.ts';
import { until } from '../support/wait.ts';
import { type EffectSink, startEffectSink } from './effect-sink.ts';
import { RestlessApp } from './restless-app.ts';
import type { Ended } from './workflow-moments.ts';

const RUNS = thorough(300, 5_000);
const APPS = 2;
const PROCESSES = 2;
/** Runs of one process at the same time. */
const AT_ONCE = thorough(16, 40);
/** One of so many runs is executed by both processes of its app. */
const SHARED = 10;
const STEPS = 4;
/** Of work between two restarts, in milliseconds. */
const [SHORTEST, LONGEST] = [5_000, 10_000];
/** What a killed app had claimed waits a minute for the end of its lease, in a thorough run. */
const LEASES_END_AT_ONCE = thorough(true, false);
/** Milliseconds, up to twice so many, until a process of an app is killed. */
const APP_LIVES = thorough(5_000, 45_000);
const LIMIT = thorough(400_000, 3_600_000);

let postgres: MortalPostgres;
let world: Constellation;
let core: CoreProcess;
let sink: EffectSink;
const gateways: Child[] = [];
const apps: RestlessApp[] = [];
/** Keys that no process has begun, by app. */
const waiting: string[][] = [];
const ended = new Map<string, Ended>();
let wrong: Ended[] = [];

before(async () => {
  postgres = await startMortalPostgres();
  world = await startConstellation({ database: postgres });
  sink = await startEffectSink();
  const account = await registerAccount(world, 'merchant');
  const installed = [];
  for (let app = 0; app < APPS; app += 1) installed.push(await installTestApp(world, account, `shop-${app}`, []));
  await world.core.stop();
  core = await startCoreProcess(world, { port: world.port, quiet: true });
  for (const one of installed) {
    const place = { ...gatewayPlace(world, one), listenPort: await freePort() };
    gateways.push(await startGatewayProcess(place));
    const environment = {
      PLATFORM_API_URL: `http://127.0.0.1:${place.listenPort}`,
      PLATFORM_GATEWAY_TOKEN: `pgw_${one.appId.padEnd(43, 't').slice(0, 43)}`,
      SINK_URL: sink.origin,
    };
    const keys: string[] = [];
    waiting.push(keys);
    for (let number = 0; number < PROCESSES; number += 1) {
      const app: RestlessApp = new RestlessApp(environment, (end) => {
        if (end.error === undefined) ended.set(end.key, end);
        else wrong.push(end);
        const next = keys.shift();
        if (next !== undefined) app.order(next);
      });
      apps.push(app);
    }
  }
});
after(async () => {
  await Promise.all([...apps, ...gateways].map((one) => ('close' in one ? one.close() : one.kill())));
  await sink?.close();
  await core?.kill();
  await world?.close();
});

test(`${RUNS} workflows end, each with its effects once, while PostgreSQL restarts every few seconds`, {
  timeout: LIMIT,
}, async (context) => {
  const random = randomOf(context);
  wrong = [];
  const keys = Array.from({ length: RUNS }, (_, index) => `order-${index}`);
  for (const [index, key] of keys.entries()) waiting[index % APPS]?.push(key);
  const begun = performance.now();
  for (const [index, app] of apps.entries()) {
    const mine = waiting[Math.floor(index / PROCESSES)] ?? [];
    for (const key of mine.splice(0, AT_ONCE)) app.order(key);
  }
  // Some are executed by the other process of the app as well.
  for (const [index, app] of apps.entries()) {
    const other = apps[index ^ 1];
    for (const key of app.open.filter((_, number) => number % SHARED === 0)) other?.order(key);
  }

  const over = new AbortController();
  const storm = [restartPostgres(random, over.signal), killApps(random, over.signal)] as const;
  const allEnd = until('all runs to end', () => ended.size === RUNS || wrong.length > 0, LIMIT * 0.9);
  await allEnd.finally(() => over.abort()).finally(() => Promise.all(storm));
  const [restarts, kills] = await Promise.all(storm);
  const milliseconds = performance.now() - begun;
  assert.deepEqual(wrong, []);
  const effects = new Set<string>();
  for (const { runId, step, idempotencyKey } of sink.asked) effects.add(`${runId} ${step} ${idempotencyKey}`);
  context.diagnostic(
    `${RUNS} runs with ${RUNS * STEPS} effects in ${Math.round(milliseconds)} ms; PostgreSQL restarted ${restarts} times, ` +
      `processes of apps ${kills} times; executors ran ${sink.asked.length} times`,
  );
  assert.equal(effects.size, RUNS * STEPS, 'each step has one idempotency key');
  assert.equal(sink.receipts.size, RUNS * STEPS);
  const given = new Set(sink.receipts.values());
  for (const { key, result = [] } of ended.values()) {
    assert.equal(result.length, STEPS, key);
    for (const receipt of result) assert.ok(given.delete(receipt), `${key}: ${receipt}`);
  }
  assert.equal(given.size, 0, 'every effect is the result of one step');
  await judgeHistories();
});

/** Kills it, or stops it as a system administrator does. @returns how often */
async function restartPostgres(random: () => number, over: AbortSignal): Promise<number> {
  for (let restarts = 0; ; restarts += 1) {
    await delay(SHORTEST + random() * (LONGEST - SHORTEST), undefined, { signal: over }).catch(() => undefined);
    if (over.aborted) return restarts;
    await (random() < 0.5 ? postgres.kill() : postgres.stop());
    await postgres.start();
    await worked(over);
  }
}

async function killApps(random: () => number, over: AbortSignal): Promise<number> {
  for (let kills = 0; ; kills += 1) {
    await delay((1 + random()) * APP_LIVES, undefined, { signal: over }).catch(() => undefined);
    if (over.aborted) return kills;
    const app = apps[Math.floor(random() * apps.length)];
    await app?.restart();
    if (LEASES_END_AT_ONCE) await endLeases(app?.open ?? []);
    await worked(over);
  }
}

/** Resolves when something happened again: on a busy machine a restart takes long. */
async function worked(over: AbortSignal): Promise<void> {
  const before = sink.asked.length;
  await until('an effect', () => over.aborted || sink.asked.length > before, LIMIT);
}

/** As if a minute had passed since an app died. */
async function endLeases(keys: readonly string[]): Promise<void> {
  await until('the database to answer', () =>
    postgres
      .query(
        `UPDATE workflow_activities SET lease_expires_at = now() - interval '1 second'
          WHERE lease_expires_at > now()
            AND run_id IN (SELECT id FROM workflow_runs WHERE idempotency_key = ANY ($1::text[]))`,
        [keys],
      )
      .then(
        () => true,
        () => false,
      ),
  );
}

/** Of the runs that are kept. */
async function judgeHistories(): Promise<void> {
  const broken = await postgres.query(`
    SELECT r.id, count(*) AS events, max(h.sequence) AS last, count(*) FILTER (WHERE h.event = 'activity-completed') AS steps
      FROM workflow_runs r JOIN workflow_history h ON h.run_id = r.id
     GROUP BY r.id
    HAVING count(*) <> max(h.sequence) OR max(h.sequence) <> max(r.last_sequence)
        OR count(*) FILTER (WHERE h.event = 'activity-completed') <> ${STEPS}
        OR count(*) FILTER (WHERE h.event = 'completed') <> 1 OR max(r.status) <> 'completed'`);
  assert.deepEqual(broken, []);
}
