// What an AI call takes through the platform's Gateway, through Portkey's and through LiteLLM's, beside the same call made
// directly to the same scripted provider over TLS. With ours, core checks token, grant and rate and reserves the budget
// durably, with PostgreSQL on a disk; the peers hold one key and forward. Each is alone on one core when measured, with
// everything that belongs to it but PostgreSQL; callers, provider and PostgreSQL have the other.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { Agent } from 'undici';
import type { StartedGateway } from '../../tests/support/intelligence-world.ts';
import { CORE_CPU, REST_CPU, startCoreAlone } from '../core-alone.ts';
import { startScript } from '../gateway/processes.ts';
import { atMost, median, percentile, printRow, reported } from '../machine.ts';
import { startLiteLlm, startPortkey } from './peers.ts';

const PER_SECOND = 100;
const WARM_UP_CALLS = 300;
const CALLS = 500;
const ROUNDS = 4;

interface Way {
  readonly name: string;
  readonly base: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface Times {
  /** Milliseconds to the first bytes of the body. */
  readonly first: number;
  readonly whole: number;
}

/** Of one way: what it adds to the median of the direct calls of the same round. */
interface Added {
  readonly whole: number[];
  readonly first: number[];
}

await using parts = new AsyncDisposableStack();
const folder = await mkdtemp(join(tmpdir(), 'bench-intelligence-'));
parts.defer(() => rm(folder, { recursive: true }));
const provider = await startScript<{ port: number; cert: string }>(
  new URL('./provider-server.ts', import.meta.url),
  REST_CPU,
  [],
);
parts.defer(() => provider.stop());
const { cert } = provider.line;
const ca = join(folder, 'provider.pem');
await writeFile(ca, cert);
const origin = `https://localhost:${provider.port}`;

const core = parts.use(
  await startCoreAlone<{ settings: StartedGateway; databaseUrl: string }>({
    server: new URL('./core-server.ts', import.meta.url),
    args: [origin],
    postgres: 'disk',
  }),
);
const { settings, databaseUrl } = core.line;
const gateway = await startScript(
  new URL('./gateway-server.ts', import.meta.url),
  CORE_CPU,
  [JSON.stringify(settings)],
  { NODE_EXTRA_CA_CERTS: ca },
);
parts.defer(() => gateway.stop());
await core.separate();

const direct: Way = { name: 'direct', base: `${origin}/v1`, headers: { authorization: 'Bearer sk-direct' } };
const ours: Way = {
  name: 'the Gateway',
  base: `http://127.0.0.1:${gateway.port}/v1/services/intelligence/openai`,
  headers: { authorization: `Bearer ${settings.gatewayCredential}` },
};
const ways = [ours];
for (const start of [startPortkey, startLiteLlm]) {
  try {
    const peer = await start({ core: CORE_CPU, provider: direct.base, ca });
    parts.defer(() => peer.stop());
    ways.push(peer);
  } catch (error) {
    process.stderr.write(`  without ${start.name.slice('start'.length)}, which could not be started: ${error}\n`);
  }
}
const agent = new Agent({ connect: { ca: cert }, allowH2: false, connections: null });
parts.defer(() => agent.destroy());

async function call({ base, headers, name }: Way, stream: boolean): Promise<Times> {
  const { origin, pathname } = new URL(`${base}/chat/completions`);
  const body = {
    model: 'small',
    messages: [{ role: 'user', content: 'Say hello.' }],
    max_completion_tokens: 100,
    ...(stream ? { stream } : {}),
  };
  const begun = performance.now();
  const answer = await agent.request({
    origin,
    path: pathname,
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (answer.statusCode !== 200) throw new Error(`${name} answered ${answer.statusCode}: ${await answer.body.text()}`);
  let first = 0;
  for await (const _ of answer.body) first ||= performance.now() - begun;
  return { first, whole: performance.now() - begun };
}

/** Each of the ways in turn, at a steady pace, whether or not the former calls have ended. */
async function atPace(alternating: readonly Way[], calls: number, stream: boolean): Promise<Times[][]> {
  const times = alternating.map((): Promise<Times>[] => []);
  const begun = performance.now();
  const perSecond = alternating.length * PER_SECOND;
  for (let index = 0; index < alternating.length * calls; index += 1) {
    const due = begun + (index * 1_000) / perSecond;
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())));
    const which = index % alternating.length;
    const way = alternating[which];
    if (way === undefined) continue;
    const calling = call(way, stream);
    // Looked at below.
    calling.catch(() => undefined);
    times[which]?.push(calling);
  }
  return Promise.all(times.map((all) => Promise.all(all)));
}

const added = new Map<Way, Added>(ways.map((way) => [way, { whole: [], first: [] }]));
const directTimes: number[] = [];
for (const way of ways) for (const stream of [false, true]) await atPace([direct, way], WARM_UP_CALLS, stream);
for (let round = 0; round < ROUNDS; round += 1) {
  for (const way of ways) {
    for (const stream of [false, true]) {
      const [plain = [], through = []] = await atPace([direct, way], CALLS, stream);
      const key = stream ? 'first' : 'whole';
      const base = median(plain.map((time) => time[key]));
      added.get(way)?.[key].push(...through.map((time) => time[key] - base));
      if (!stream) directTimes.push(...plain.map(({ whole }) => whole));
    }
  }
}
await settledAll();

for (const way of ways) {
  const { whole = [], first = [] } = added.get(way) ?? {};
  printRow(
    reported(`AI call at ${PER_SECOND}/s through ${way.name}, added to the direct call, p50`, median(whole), 'ms'),
  );
  printRow(reported('the same, p99', percentile(whole, 99), 'ms'));
  const delay = median(first);
  const name = `first streamed token through ${way.name}, added, p50`;
  printRow(way === ours ? atMost(name, delay, 'ms', 2) : reported(name, delay, 'ms'));
}
const portkey = ways.find(({ name }) => name.startsWith('Portkey'));
if (portkey !== undefined) {
  const ratio = median(added.get(ours)?.whole ?? []) / median(added.get(portkey)?.whole ?? []);
  printRow(atMost('the Gateway to Portkey, added, p50', ratio, '×', 0.5));
}
printRow(reported('the direct call, p50', median(directTimes), 'ms'));
printRow(reported('the direct call, p99', percentile(directTimes, 99), 'ms'));

/** Every call was counted and none is reserved any more: what was measured enforces the budget. */
async function settledAll(): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    for (;;) {
      const { rows } = await client.query<{ open: number; requests: number; fsync: string }>(
        `SELECT (SELECT count(*)::integer FROM intelligence_reservations) AS open, requests::integer,
                current_setting('fsync') || ' ' || current_setting('synchronous_commit') AS fsync
           FROM intelligence_meters`,
      );
      const [row] = rows;
      const calls = 2 * (WARM_UP_CALLS + ROUNDS * CALLS);
      if (row?.fsync !== 'on on') throw new Error(`PostgreSQL was not durable: ${row?.fsync}`);
      if (row.open === 0 && row.requests === calls) return;
      if (row.open === 0) throw new Error(`${row.requests} of ${calls} calls were counted`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  } finally {
    await client.end();
  }
}
