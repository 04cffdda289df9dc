// Budgets of AI calls while core and Gateways are killed with SIGKILL: a platform as it is started, a real workload that
// makes calls at the same time and leaves some of them, and its parts killed at random moments. The Gateways of the `process`
// driver live in the node and die with it (docs/decisions/gateway-failures.md). Each call names a model of its own, so that
// what was counted for it is known, and compared with what the provider counted itself.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { AppIntelligence } from '@platform/contract';
import pg from 'pg';
import { type AskBackend, openBackend } from '../support/backend.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import {
  databaseUrlOf,
  killPart,
  type PartName,
  type PlatformPlace,
  type PlatformProcess,
  platformPlace,
  startPlatform,
} from '../support/platform-process.ts';
import { publishTestApp } from '../support/publish.ts';
import { randomOf, thorough } from '../support/thorough.ts';
import { until } from '../support/wait.ts';
import { type BillingProvider, startBillingProvider, type Wanted } from './billing-provider.ts';

/** Each makes fewer calls than models are counted apart. */
const APPS = thorough(1, 8);
const ROUNDS = thorough(4, 12);
const CALLS = 14;
const VICTIMS: readonly (readonly PartName[])[] = [['Node'], ['Core'], ['Core', 'Node'], ['Core', 'Core']];
/** Most calls begin within so many milliseconds; the others while what was killed comes back. */
const SPAN = 500;
const LATER = 4_000;

interface Planned {
  readonly wanted: Wanted;
  readonly body: string;
  /** Milliseconds after which it begins, and after which the caller leaves. */
  readonly after: number;
  readonly leaves: number | null;
}

interface Made extends Planned {
  /** The node was killed in its round. */
  readonly endangered: boolean;
  /** What the workload saw; `null` when it died. */
  readonly seen: { readonly status: number; readonly whole: boolean } | null;
}

let folder: string;
let provider: BillingProvider;
let place: PlatformPlace;
let platform: PlatformProcess;
let account: TestAccount;
let pool: pg.Pool;

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'budgets-'));
  provider = await startBillingProvider();
  const entry = { id: 'openai', dialect: 'openai', baseUrl: provider.origin, platformKeyFile: 'key' };
  await writeFile(path.join(folder, 'key'), 'sk-of-the-platform', { mode: 0o600 });
  const settings = { providers: [entry], requestsPerMinute: 100_000, monthlyTokens: 100_000_000 };
  await writeFile(path.join(folder, 'providers.json'), JSON.stringify(settings));
  place = await platformPlace({
    PLATFORM_RUNTIME_DRIVER: 'process',
    PLATFORM_INTELLIGENCE_FILE: path.join(folder, 'providers.json'),
    NODE_EXTRA_CA_CERTS: provider.caFile,
  });
  platform = await startPlatform(place);
  account = await registerAccount(place, 'spender');
  pool = new pg.Pool({ connectionString: await databaseUrlOf(place), max: 2 });
  const main = await readFile(new URL('asking-app.mjs', import.meta.url));
  for (let app = 1; app <= APPS; app += 1) {
    const manifest = {
      workload: { runtime: 'node', entry: 'main.mjs' },
      permissions: [{ id: 'intelligence.use', resources: ['openai:*'] }],
    };
    const files = { 'frontend/index.html': '<!doctype html>', 'workload/main.mjs': main };
    await publishTestApp(account, `spender-${app}`, manifest, files);
  }
});
after(async () => {
  await pool?.end();
  await platform?.stop();
  await place?.remove();
  await provider?.close();
  await rm(folder, { recursive: true, force: true });
});

function plan(model: string, random: () => number): Planned {
  const below = (most: number) => Math.floor(random() * most);
  const wanted: Wanted = {
    model,
    stream: random() < 0.6,
    ...(random() < 0.96 ? { max_tokens: 5 + below(300) } : {}),
    metadata: { tokens: 1 + below(30), pause: below(40) },
    messages: [{ role: 'user', content: 'x'.repeat(below(300)) }],
  };
  const leaves = random() < 0.25 ? below(400) : null;
  return { wanted, body: JSON.stringify(wanted), after: below(random() < 0.6 ? SPAN : LATER), leaves };
}

async function make(ask: AskBackend, { body, leaves, after: pause }: Planned): Promise<Made['seen']> {
  await delay(pause);
  try {
    const answer = await ask(`/?call=${encodeURIComponent(JSON.stringify({ body, leaves }))}`);
    return answer.status === 200 ? (JSON.parse(answer.text) as Made['seen']) : null;
  } catch {
    return null;
  }
}

/** Resolves when the app's backend answers. */
function ready(appId: string): Promise<AskBackend> {
  return until(
    `${appId} to answer`,
    async () => {
      try {
        const ask = await openBackend(place, account, appId);
        return (await ask('/')).text === 'ready' ? ask : undefined;
      } catch {
        // A part is being restarted.
        return undefined;
      }
    },
    60_000,
  );
}

const intelligenceOf = (appId: string) => account.browser.take<AppIntelligence>(`/v1/apps/${appId}/intelligence`);

async function meterOf(installationId: string): Promise<{ used: number; reserved: number; most: number } | undefined> {
  const { rows } = await pool.query(
    `SELECT used::integer, reserved::integer, monthly_tokens::integer AS most
       FROM intelligence_meters WHERE installation_id = $1`,
    [installationId],
  );
  return rows[0];
}

/** Core may be away; the database is not. */
async function neverOver(installationId: string, work: Promise<unknown>): Promise<void> {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  work.then(end, end);
  while (!isOver) {
    const meter = await meterOf(installationId);
    if (meter !== undefined) {
      const { used, reserved, most } = meter;
      assert.ok(used >= 0 && reserved >= 0, JSON.stringify(meter));
      assert.ok(used + reserved <= most, JSON.stringify(meter));
    }
    await delay(3);
  }
  await work;
}

/** Calls whose reservation stands, by their model. */
async function openReservations(installationId: string): Promise<string[]> {
  const { rows } = await pool.query<{ model: string }>(
    'SELECT model FROM intelligence_reservations WHERE installation_id = $1 AND NOT charged',
    [installationId],
  );
  return rows.map(({ model }) => model);
}

/** Resolves when the Gateway, which lives, has settled these calls. */
async function settled(installationId: string, models: ReadonlySet<string>): Promise<void> {
  let open: string[] = [];
  const none = async () => {
    open = (await openReservations(installationId)).filter((model) => models.has(model));
    return open.length === 0;
  };
  await until('a Gateway that lives to settle', none, 60_000).catch((error: Error) => {
    throw new Error(`${error.message} ${open.join(', ')}`);
  });
}

/** As if ten minutes had passed: core itself charges what is due. */
async function tenMinutesLater(installationId: string): Promise<void> {
  const longAgo = new Date(0);
  await pool.query('UPDATE intelligence_reservations SET due_at = $2 WHERE installation_id = $1 AND NOT charged', [
    installationId,
    longAgo,
  ]);
  await pool.query(`UPDATE periodic_tasks SET next_at = $1 WHERE name = 'overdue-intelligence'`, [longAgo]);
  const none = async () => (await openReservations(installationId)).length === 0;
  await until('core to charge what is due', none, 60_000);
}

interface Counted {
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Throws unless what was counted for a call is what may be. @returns how it ended */
function judge(
  made: Made,
  counted: Counted | undefined,
  charged: { tokens: number; input: number } | undefined,
): string {
  const { wanted, body, leaves, seen, endangered } = made;
  const note = JSON.stringify({ made, counted, charged, bill: provider.bills.get(wanted.model) });
  const bill = provider.bills.get(wanted.model);
  const estimate = Math.ceil(Buffer.byteLength(body) / 3);
  assert.ok((bill?.seen ?? 0) <= 1, `made twice: ${note}`);
  if (charged !== undefined) {
    assert.ok(endangered, `charged in full, and its Gateway lived: ${note}`);
    assert.equal(charged.input, estimate, note);
    const full = { requests: 1, inputTokens: estimate, outputTokens: charged.tokens - estimate };
    assert.deepEqual(counted, full, note);
    return 'charged in full';
  }
  const { tokens = null, bytes = 0 } = bill ?? {};
  const exact = tokens !== null && counted?.inputTokens === tokens.input && counted.outputTokens === tokens.output;
  if (seen?.status === 200 && seen.whole) {
    assert.ok(exact && counted.requests === 1, note);
    return 'answered';
  }
  if (seen !== null && seen.status >= 400) {
    assert.ok(counted === undefined && bill === undefined, note);
    return seen.status === 429 ? 'refused for the budget' : 'refused while core was away';
  }
  // The caller left, or its workload died with its Gateway after the call was settled or before it was authorized.
  assert.ok(leaves !== null || endangered, note);
  if (bill === undefined && counted === undefined) return 'left before';
  if (exact) return 'left, and answered';
  assert.equal(counted?.requests, 1, note);
  assert.equal(counted.inputTokens, estimate, note);
  assert.ok(counted.outputTokens <= Math.ceil(bytes / 3), note);
  return 'left';
}

/** Some calls at the same time, and parts that are killed meanwhile. */
async function round(appId: string, number: number, random: () => number): Promise<Made[]> {
  const victims = VICTIMS[number % VICTIMS.length] ?? [];
  const ask = await ready(appId);
  const { usage } = await intelligenceOf(appId);
  const monthlyTokens = usage.tokens + usage.reserved + Math.floor(1_000 + random() * 5_000);
  await account.browser.take(`/v1/apps/${appId}/intelligence`, { method: 'PUT', body: { monthlyTokens } });
  const calls = Array.from({ length: CALLS }, (_, index) => plan(`${appId}-call-${number}-${index}`, random));
  // Some calls are under way by the first.
  const moments = victims.map(() => (0.4 + random()) * SPAN);
  const seen = Promise.all(calls.map((call) => make(ask, call)));
  const killed = (async () => {
    for (const [index, victim] of victims.entries()) {
      await delay(moments[index]);
      await killPart(place, victim);
    }
  })();
  const installationId = await installationOf(appId);
  await neverOver(installationId, Promise.all([seen, killed]));
  const endangered = victims.includes('Node');
  if (!endangered) await settled(installationId, new Set(calls.map(({ wanted }) => wanted.model)));
  return (await seen).map((one, index) => ({ ...(calls[index] as Planned), seen: one, endangered }));
}

async function installationOf(appId: string): Promise<string> {
  const { rows } = await pool.query<{ id: string }>('SELECT id FROM installations WHERE app_id = $1', [appId]);
  return rows[0]?.id ?? '';
}

for (let app = 1; app <= APPS; app += 1) {
  const appId = `spender-${app}`;
  test(`${appId}: whoever is killed, the budget is never exceeded, nothing stays reserved and the counters are the provider’s`, {
    timeout: 15 * 60_000,
  }, async (context) => {
    const random = randomOf(context);
    await account.browser.take('/v1/apps', { body: { appId } });
    const made: Made[] = [];
    for (let number = 0; number < ROUNDS; number += 1) made.push(...(await round(appId, number, random)));
    await ready(appId);
    const installationId = await installationOf(appId);
    await tenMinutesLater(installationId);

    const { rows } = await pool.query<{ model: string; tokens: number; input: number }>(
      `SELECT model, tokens::integer, estimated_input::integer AS input
         FROM intelligence_reservations WHERE installation_id = $1`,
      [installationId],
    );
    const charged = new Map(rows.map(({ model, ...one }) => [model, one]));
    const { usage } = await intelligenceOf(appId);
    const counted = new Map<string, Counted>(
      usage.models.map(({ model, requests, inputTokens, outputTokens }) => [
        model,
        { requests, inputTokens, outputTokens },
      ]),
    );
    const ends: Record<string, number> = {};
    for (const one of made) {
      const { model } = one.wanted;
      const end = judge(one, counted.get(model), charged.get(model));
      ends[end] = (ends[end] ?? 0) + 1;
      counted.delete(model);
    }
    context.diagnostic(`${made.length} calls: ${JSON.stringify(ends)}`);
    assert.equal(counted.size, 0, 'nothing else was counted');
    assert.equal(usage.reserved, 0);
    const sum = (pick: (one: Counted) => number) => usage.models.reduce((all, one) => all + pick(one), 0);
    assert.equal(
      usage.tokens,
      sum(({ inputTokens, outputTokens }) => inputTokens + outputTokens),
    );
    assert.equal(
      usage.requests,
      sum(({ requests }) => requests),
    );
    const meter = await meterOf(installationId);
    assert.ok(meter !== undefined && meter.used <= meter.most);
  });
}
