// Durable workflows of an app: claiming and completing steps through a Gateway, and whole runs with the SDK, beside DBOS
// Transact and graphile-worker doing the same steps on the same PostgreSQL server, which keeps its files on a disk and
// waits for it. App, Gateway, core and each of the others are processes of their own, on all cores of the machine.
import { execFile } from 'node:child_process';
import { cpus } from 'node:os';
import { promisify } from 'node:util';
import pg from 'pg';
import { CORE_CPU, startCoreAlone } from '../core-alone.ts';
import { startScript } from '../gateway/processes.ts';
import { atLeast, atMost, median, percentile, printRow, reported } from '../machine.ts';
import type { StepsOrder, StepTimes } from './caller.ts';
import { type Peer, startDbos, startGraphileWorker } from './peers.ts';
import { type Program, type RunsOrder, startProgram, type WorkflowGateway, type WorkflowServer } from './programs.ts';
import { storeActivities } from './stored.ts';

const AT_ONCE = 16;
/** What the contract allows an app: 12,000 requests a minute, of which a step takes two. */
const ALLOWED_PER_SECOND = 100;
const STORED = 1_000_000;
const ROUNDS = 3;
const RUNS = 300;
const STEPS = 60;
const STEPS_A_ROUND = 30;

await using parts = new AsyncDisposableStack();
const core = parts.use(
  await startCoreAlone<WorkflowServer>({ server: new URL('./core-server.ts', import.meta.url), postgres: 'disk' }),
);
await onAllCores(core.pid);
const environment = await startGateway(core.line);

/** A Gateway in a process of its own. @returns the environment of its workload */
async function startGateway({ place }: WorkflowServer): Promise<Readonly<Record<string, string>>> {
  const script = new URL('./gateway-server.ts', import.meta.url);
  const gateway = await startScript<WorkflowGateway>(script, CORE_CPU, [JSON.stringify(place)]);
  parts.defer(() => gateway.stop());
  await onAllCores(gateway.pid);
  return gateway.line.environment;
}

async function onAllCores(pid: number): Promise<void> {
  await promisify(execFile)('taskset', ['-a', '-c', '-p', `0-${cpus().length - 1}`, String(pid)]);
}

async function startCaller(of: Readonly<Record<string, string>>): Promise<Program<StepsOrder, StepTimes>> {
  const caller = await startProgram<StepsOrder, StepTimes>('./caller.ts', [], of);
  parts.defer(() => caller.stop());
  return caller;
}

/** An empty database on the server of core. */
async function newDatabase(name: string): Promise<string> {
  const url = new URL(core.databaseUrl);
  const client = new pg.Client({ connectionString: core.databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ durable: string }>(
      "SELECT current_setting('fsync') || ' ' || current_setting('synchronous_commit') AS durable",
    );
    if (rows[0]?.durable !== 'on on') throw new Error(`PostgreSQL was not durable: ${rows[0]?.durable}`);
    await client.query(`CREATE DATABASE ${name}`);
  } finally {
    await client.end();
  }
  url.pathname = `/${name}`;
  return url.href;
}

const caller = await startCaller(environment);
const full = process.env.PLATFORM_BENCH_WORKFLOWS_SMALL === '1' ? null : await startFullCore();

/** Another core, on a database of its own that holds many activities. */
async function startFullCore(): Promise<Program<StepsOrder, StepTimes>> {
  const script = new URL('./core-server.ts', import.meta.url);
  const environment = { PLATFORM_TEST_DATABASE_URL: core.databaseUrl };
  const second = await startScript<WorkflowServer>(script, CORE_CPU, [], environment);
  parts.defer(() => second.stop());
  await onAllCores(second.pid);
  process.stderr.write(`  storing ${STORED.toLocaleString('en')} activities …\n`);
  await storeActivities(second.line.databaseUrl, STORED);
  return startCaller(await startGateway(second.line));
}

const app = await startProgram<RunsOrder, number>('./app.ts', [], environment);
parts.defer(() => app.stop());
const ours: Peer = { name: 'the platform', program: app };
const ways = [ours];
for (const [start, database] of [
  [startDbos, 'dbos'],
  [startGraphileWorker, 'graphile'],
] as const) {
  const peer = await start(await newDatabase(database));
  parts.defer(() => peer.program.stop());
  ways.push(peer);
}

process.stderr.write('  measuring …\n');
const rates = new Map(ways.map((way) => [way, [] as number[]]));
for (const { program } of ways) await program.ask({ runs: RUNS, atOnce: AT_ONCE });
for (let round = 0; round < ROUNDS; round += 1) {
  for (const way of ways) {
    const seconds = await way.program.ask({ runs: RUNS, atOnce: AT_ONCE });
    rates.get(way)?.push((3 * RUNS) / seconds);
  }
}
const alone = new Map<Peer, number>();
for (const way of ways) alone.set(way, (await way.program.ask({ runs: 100, atOnce: 1 })) * 10);

const closed: StepTimes[] = [];
const allowed: StepTimes[] = [];
const stored: StepTimes[] = [];
const steady = { workflows: AT_ONCE, stepsOfEach: STEPS_A_ROUND, perSecond: ALLOWED_PER_SECOND };
await caller.ask({ workflows: AT_ONCE, stepsOfEach: STEPS });
await full?.ask({ workflows: AT_ONCE, stepsOfEach: STEPS });
for (let round = 0; round < ROUNDS; round += 1) {
  closed.push(await caller.ask({ workflows: AT_ONCE, stepsOfEach: STEPS }));
  allowed.push(await caller.ask(steady));
  if (full !== null) stored.push(await full.ask(steady));
}

const rateOf = (way: Peer): number => median(rates.get(way) ?? []);
const inParallel = `${AT_ONCE} runs at a time`;
for (const way of ways.slice(1)) {
  const name = `activities a second, the platform to ${way.name}, ${inParallel}`;
  const ratio = rateOf(ours) / rateOf(way);
  printRow(way.name.startsWith('DBOS') ? atLeast(name, ratio, '×', 1) : reported(name, ratio, '×'));
}
if (full !== null) {
  const growth = median(allOf(stored, 'claims')) / median(allOf(allowed, 'claims'));
  printRow(atMost(`claim with ${STORED.toLocaleString('en')} stored activities to one without, p50`, growth, '×', 1.5));
}
const most = `at the ${ALLOWED_PER_SECOND} steps a second that an app may take`;
printRow(atMost(`claim and complete, ${inParallel}, ${most}, p50`, median(allOf(allowed, 'pairs')), 'ms', 3));
printRow(atMost('the same, p99', percentile(allOf(allowed, 'pairs'), 99), 'ms', 20));
printRow(reported('of that the claim, p50', median(allOf(allowed, 'claims')), 'ms'));
printRow(atMost(`claim and complete, ${inParallel}, without a pause, p50`, median(allOf(closed, 'pairs')), 'ms', 3));
printRow(atMost('the same, p99', percentile(allOf(closed, 'pairs'), 99), 'ms', 20));
const perSecond = closed.map(({ pairs, seconds }) => pairs.length / seconds);
printRow(reported('the same, activities a second', median(perSecond), ''));
for (const way of ways) {
  printRow(reported(`runs of three activities, ${inParallel}: ${way.name}, activities a second`, rateOf(way), ''));
  printRow(reported('the same, one run at a time, mean of a run', alone.get(way) ?? Number.NaN, 'ms'));
}

function allOf(times: readonly StepTimes[], which: 'claims' | 'pairs'): number[] {
  return times.flatMap((one) => one[which]);
}
