// The transport that comes with the platform: how soon a message is with a reader that waits, how many a second are durable, what a
// reader that waits costs. Core alone on one core of the machine, PostgreSQL on a disk and the callers on the other.
import { setTimeout as delay } from 'node:timers/promises';
import { type CoreAlone, startDurableCore } from '../core-alone.ts';
import { atLeast, atMost, median, percentile, printRow, reported } from '../machine.ts';
import { settledResident } from '../platform/process-memory.ts';
import { allArrived, steadily } from '../steadily.ts';
import { type BenchServer, type BenchWriter, heldBy, send, statementsOf, sync } from './writers.ts';

const PER_SECOND = 200;
const LATENCY_SECONDS = 10;
/** Before anything is measured, so that code that is being compiled is not what is measured. */
const WARM_UP_SECONDS = 4;
const CALLERS = 128;
const SECONDS = 3;
const ROUNDS = 5;
const WAITING = 1_000;
/** Readers that begin at the same time: a machine that is busy has them all before the first wait is over. */
const AT_ONCE = 20;
const WAIT_MS = 30_000;
/** In which no wait may end: it is asked how many statements there were. */
const STILL_MS = 5_000;
const MiB = 1024 * 1024;

export async function measureBundled(): Promise<void> {
  await using bench = await startDurableCore<BenchServer>(new URL('./server.ts', import.meta.url));
  // First, while the process has no memory left over from other work that waits could hide in.
  await measureWaits(bench);
  await measureLatency(bench.line);
  await measureThroughput(bench.line);
}

function writerAt({ writers }: BenchServer, index: number): BenchWriter {
  const writer = writers[index % writers.length];
  if (writer === undefined) throw new Error('there is no writer');
  return writer;
}

/** Readers that wait again and again, as those of people do. Each began for itself, as each device of a person does. */
async function measureWaits({ line: server, pid }: CoreAlone<BenchServer>): Promise<void> {
  for (const writer of server.writers) await sync(server, writer);
  const withoutThem = await statementsIn(server, STILL_MS);
  // What making the accounts left behind would be thrown away meanwhile, and is as large.
  const heldBefore = await heldBy(server);
  const before = await settledResident(pid);
  const ending = new AbortController();
  let ended = 0;
  const readers: Promise<void>[] = [];
  async function wait(index: number): Promise<void> {
    const writer = writerAt(server, index);
    let { cursor } = await sync(server, writer);
    const waits = async () => {
      while (!ending.signal.aborted) {
        ({ cursor } = await sync(server, writer, cursor, WAIT_MS));
        ended += 1;
      }
    };
    readers.push(waits());
  }
  for (let begun = 0; begun < WAITING; begun += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, (_, place) => wait(begun + place)));

  const statements = await statementsWhileStill(server, () => ended);
  const grown = (await settledResident(pid)) - before;
  const cost = (await heldBy(server)) - heldBefore;
  printRow(atMost(`${WAITING} readers that wait, memory that core holds for them`, cost / MiB, 'MiB', 40));
  printRow(reported('the same, growth of the process, with what their requests left behind', grown / MiB, 'MiB'));
  const own = Math.max(0, statements - withoutThem) / WAITING;
  printRow(atMost(`statements of each in ${STILL_MS / 1_000} s of waiting`, own, '', 0.5));
  ending.abort();
  await Promise.all(server.writers.map((writer) => send(server, writer, 'wake up')));
  await Promise.all(readers);
}

async function statementsIn(server: BenchServer, milliseconds: number): Promise<number> {
  const before = await statementsOf(server);
  await delay(milliseconds);
  return (await statementsOf(server)) - before;
}

/** While none of the waits ended and began anew. @param ended how many did so far */
async function statementsWhileStill(server: BenchServer, ended: () => number): Promise<number> {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const before = ended();
    // Those that began a moment ago are on their way.
    await delay(1_000);
    const statements = await statementsIn(server, STILL_MS);
    if (ended() === before) return statements;
  }
  throw new Error('the waits do not begin within the time of one of them: the machine is too busy');
}

/** From before the request is sent until the answer of the reader's call has arrived, both seen by this process. */
async function measureLatency(server: BenchServer): Promise<void> {
  const sent = new Map<string, number>();
  const times: number[] = [];
  let over = false;
  const readers = server.writers.map(async (writer, place) => {
    let { cursor } = await sync(server, writer);
    while (!over) {
      const news = await sync(server, writer, cursor, 1_000);
      ({ cursor } = news);
      for (const { body } of news.messages) {
        const at = sent.get(body);
        // One's own come back as well.
        if (at !== undefined && !body.startsWith(`${place} `)) times.push(performance.now() - at);
      }
    }
  });
  async function sendSteadily(name: string, seconds: number): Promise<void> {
    times.length = 0;
    await steadily({ perSecond: PER_SECOND, seconds }, async (index) => {
      const title = `${index % server.writers.length} ${name} ${index}`;
      sent.set(title.padEnd(80, '.'), performance.now());
      await send(server, writerAt(server, index), title);
    });
    await allArrived(times, PER_SECOND * seconds, 'messages');
  }
  await sendSteadily('warm', WARM_UP_SECONDS);
  await sendSteadily('measured', LATENCY_SECONDS);
  over = true;
  await Promise.all(readers);
  printRow(atMost(`sent to with a reader that waits, at ${PER_SECOND} a second, median`, median(times), 'ms', 8));
  printRow(atMost('the same, 99th percentile', percentile(times, 99), 'ms', 25));
}

/** As many callers as there are, each with one message on its way. */
async function measureThroughput(server: BenchServer): Promise<void> {
  const rates: number[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    let done = 0;
    const end = performance.now() + SECONDS * 1_000;
    const callers = Array.from({ length: CALLERS }, async (_, caller) => {
      while (performance.now() < end) {
        await send(server, writerAt(server, caller), 'as fast as it goes');
        done += 1;
      }
    });
    await Promise.all(callers);
    // The first one warms up.
    if (round > 0) rates.push(done / SECONDS);
  }
  printRow(atLeast('messages sent and durable, PostgreSQL and callers beside', median(rates), 'a second', 2_000));
}
