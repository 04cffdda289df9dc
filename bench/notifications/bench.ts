// Notifications: how many a second are accepted and durable, how soon one is on an open stream, what a stream costs. Core
// alone on one core of the machine, PostgreSQL on a disk and the callers on the other.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import type { EventReader } from '../../tests/support/event-reader.ts';
import { REST_CPU, startDurableCore } from '../core-alone.ts';
import { loadWithWrk } from '../gateway/processes.ts';
import { atLeast, atMost, median, percentile, printRow, reported } from '../machine.ts';
import { settledResident } from '../platform/process-memory.ts';
import { allArrived, steadily } from '../steadily.ts';
import { type BenchServer, listen, messageOf, PUBLISH, publish } from './accounts.ts';

const ROUNDS = 5;
const SECONDS = 3;
const STREAMS = 1_000;
const PER_SECOND = 500;
const LATENCY_SECONDS = 10;
/** Before anything is measured, so that code that is being compiled is not what is measured. */
const WARM_UP_SECONDS = 4;
const MiB = 1024 * 1024;

await using bench = await startDurableCore<BenchServer>(new URL('./server.ts', import.meta.url));
const server = bench.line;
// First, while the process has no memory left over from other work that streams could hide in.
await measureStreams(server, bench.pid);
await measureLatency(server);
await measureThroughput(server);
process.stderr.write(
  '  ntfy and Gotify: Debian, npm, PyPI and crates.io have clients at most, no server; no peer was measured\n',
);

async function measureThroughput({ port, host, accounts }: BenchServer): Promise<void> {
  const script = join(bench.folder, 'publish.lua');
  const tokens = accounts.map(({ credential }) => `"Bearer ${credential}"`).join(', ');
  await writeFile(
    script,
    `local tokens = { ${tokens} }
     local turn = 0
     wrk.method = "POST"
     wrk.body = ${JSON.stringify(messageOf('A title'))}
     wrk.headers["Host"] = "${host}"
     wrk.headers["Content-Type"] = "application/json"
     function request()
       turn = turn % #tokens + 1
       wrk.headers["Authorization"] = tokens[turn]
       return wrk.format()
     end`,
  );
  const url = `http://127.0.0.1:${port}${PUBLISH}`;
  const load = { core: REST_CPU, callers: 128, seconds: SECONDS, script };
  await loadWithWrk(url, load);
  const before = await counts();
  const rates: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) rates.push((await loadWithWrk(url, load)).requestsPerSecond);
  const after = await counts();
  const accepted = rates.reduce((sum, rate) => sum + rate * SECONDS, 0);
  printRow(atLeast('notifications accepted and durable, PostgreSQL beside', median(rates), 'a second', 3_000));
  // A round that is over leaves up to 128 requests unanswered, which are stored all the same.
  if (after.records - before.records < accepted * 0.99) throw new Error('fewer records were stored than accepted');
  const commits = after.commits - before.commits;
  printRow(reported('notifications in a transaction', (after.records - before.records) / commits, ''));
}

/** Records and transactions of the whole cluster so far. */
async function counts(): Promise<{ readonly records: number; readonly commits: number }> {
  const names = await rowsOf<{ datname: string }>(
    bench.databaseUrl,
    "SELECT datname FROM pg_database WHERE datname LIKE 'test\\_%' AND NOT datistemplate",
  );
  let records = 0;
  for (const { datname } of names) {
    const url = new URL(bench.databaseUrl);
    url.pathname = `/${datname}`;
    const rows = await rowsOf<{ n: string | null }>(url.href, 'SELECT count(*) AS n FROM notifications');
    records += Number(rows[0]?.n ?? 0);
  }
  const [all] = await rowsOf<{ n: string }>(bench.databaseUrl, 'SELECT sum(xact_commit) AS n FROM pg_stat_database');
  return { records, commits: Number(all?.n ?? 0) };
}

async function rowsOf<Row extends pg.QueryResultRow>(url: string, query: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(query)).rows;
  } finally {
    await client.end();
  }
}

/** From before the request is sent until the event has arrived, both seen by this process. */
async function measureLatency(server: BenchServer): Promise<void> {
  const streams = await Promise.all(server.accounts.map((account) => listen(server, account)));
  const sent = new Map<string, number>();
  const times: number[] = [];
  const arrivals = Promise.all(streams.map((stream) => timesOf(stream, sent, times)));
  await publishSteadily(server, { name: 'first', seconds: WARM_UP_SECONDS, sent, times });
  times.length = 0;
  await publishSteadily(server, { name: 'measured', seconds: LATENCY_SECONDS, sent, times });
  for (const stream of streams) stream.close();
  await arrivals;
  printRow(reported(`publish to visible on an open stream at ${PER_SECOND} a second, median`, median(times), 'ms'));
  printRow(atMost('the same, 99th percentile', percentile(times, 99), 'ms', 25));
}

interface Steady {
  readonly name: string;
  readonly seconds: number;
  /** When each was sent, by title. */
  readonly sent: Map<string, number>;
  /** What their arrivals are added to. */
  readonly times: readonly number[];
}

/** Resolves when all have arrived. */
async function publishSteadily(server: BenchServer, { name, seconds, sent, times }: Steady): Promise<void> {
  await steadily({ perSecond: PER_SECOND, seconds }, async (index) => {
    const account = server.accounts[index % server.accounts.length];
    if (account === undefined) throw new Error('there is no account');
    const title = `${name} ${index}`;
    sent.set(title, performance.now());
    await publish(server, account, title);
  });
  await allArrived(times, PER_SECOND * seconds, 'notifications');
}

/** Notes when each notification arrived, until the stream is closed. */
async function timesOf(stream: EventReader, sent: ReadonlyMap<string, number>, times: number[]): Promise<void> {
  let seen = 0;
  const look = () => {
    for (; seen < stream.events.length; seen += 1) {
      const event = stream.events[seen];
      if (event?.event !== 'notification') continue;
      const { notification } = event.data as { notification: { title: string } };
      const at = sent.get(notification.title);
      if (at !== undefined) times.push(performance.now() - at);
    }
    return false;
  };
  await stream.until(look).catch(() => undefined);
}

async function measureStreams(server: BenchServer, pid: number): Promise<void> {
  const before = await settledResident(pid);
  const streams: EventReader[] = [];
  while (streams.length < STREAMS) {
    const account = server.accounts[streams.length % server.accounts.length];
    if (account === undefined) throw new Error('there is no account');
    streams.push(await listen(server, account));
  }
  const cost = (await settledResident(pid)) - before;
  printRow(atMost(`${STREAMS} open streams, memory of core`, cost / MiB, 'MiB', 60));
  for (const stream of streams) stream.close();
}
