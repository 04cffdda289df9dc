// Messages between accounts: how soon one is with a reader that waits, how many a second are durable, what a reader that waits
// costs. Core alone on one core of the machine, PostgreSQL on a disk and the callers on the other.
import { startCoreAlone } from '../core-alone.ts';
import { atLeast, atMost, median, percentile, printRow } from '../machine.ts';
import { settledResident } from '../platform/process-memory.ts';
import { type BenchServer, send, sync } from './writers.ts';

const PER_SECOND = 200;
const LATENCY_SECONDS = 10;
/** Before anything is measured, so that code that is being compiled is not what is measured. */
const WARM_UP_SECONDS = 4;
const CALLERS = 128;
const SECONDS = 3;
const ROUNDS = 5;
const WAITING = 1_000;
const MiB = 1024 * 1024;

// Not in memory: durable means on the disk of this machine.
await using bench = await startCoreAlone<BenchServer>({
  server: new URL('./server.ts', import.meta.url),
  postgres: 'disk',
});
await bench.separate();
const server = bench.line;
// First, while the process has no memory left over from other work that waits could hide in.
await measureWaits();
await measureLatency();
await measureThroughput();
process.exit(0);

/** Each reader is one that began for itself, as each device of a person is. */
async function measureWaits(): Promise<void> {
  for (const writer of server.writers) await sync(server, writer);
  const before = await settledResident(bench.pid);
  const waits: Promise<unknown>[] = [];
  while (waits.length < WAITING) {
    const writer = server.writers[waits.length % server.writers.length];
    if (writer === undefined) throw new Error('there is no writer');
    const { cursor } = await sync(server, writer);
    waits.push(sync(server, writer, cursor, 30_000));
  }
  const cost = (await settledResident(bench.pid)) - before;
  printRow(atMost(`${WAITING} readers that wait, memory of core`, cost / MiB, 'MiB', 40));
  await Promise.all(server.writers.map((writer) => send(server, writer, 'wake up')));
  await Promise.all(waits);
}

/** From before the request is sent until the answer of the reader's call has arrived, both seen by this process. */
async function measureLatency(): Promise<void> {
  const sent = new Map<string, number>();
  const times: number[] = [];
  let over = false;
  const readers = server.writers.map(async (writer) => {
    let { cursor } = await sync(server, writer);
    while (!over) {
      const news = await sync(server, writer, cursor, 1_000);
      ({ cursor } = news);
      for (const { body } of news.messages) {
        const at = sent.get(body);
        // One's own come back as well.
        if (at !== undefined && !body.startsWith(`${server.writers.indexOf(writer)} `))
          times.push(performance.now() - at);
      }
    }
  });
  await sendSteadily('warm', WARM_UP_SECONDS, sent);
  times.length = 0;
  await sendSteadily('measured', LATENCY_SECONDS, sent);
  const total = PER_SECOND * LATENCY_SECONDS;
  const deadline = performance.now() + 10_000;
  while (times.length < total && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 10));
  over = true;
  await Promise.all(readers);
  if (times.length < total) throw new Error(`${times.length} of ${total} messages arrived`);
  printRow(atMost(`sent to with a reader that waits, at ${PER_SECOND} a second, median`, median(times), 'ms', 8));
  printRow(atMost('the same, 99th percentile', percentile(times, 99), 'ms', 25));
}

async function sendSteadily(name: string, seconds: number, sent: Map<string, number>): Promise<void> {
  const total = PER_SECOND * seconds;
  const started = performance.now();
  const answers: Promise<void>[] = [];
  while (answers.length < total) {
    const due = Math.min(total, Math.floor(((performance.now() - started) / 1_000) * PER_SECOND));
    while (answers.length < due) {
      const place = answers.length % server.writers.length;
      const writer = server.writers[place];
      if (writer === undefined) throw new Error('there is no writer');
      const title = `${place} ${name} ${answers.length}`;
      sent.set(title.padEnd(80, '.'), performance.now());
      answers.push(send(server, writer, title));
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await Promise.all(answers);
}

/** As many callers as there are, each with one message on its way. */
async function measureThroughput(): Promise<void> {
  const rates: number[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    let done = 0;
    const end = performance.now() + SECONDS * 1_000;
    const callers = Array.from({ length: CALLERS }, async (_, caller) => {
      const writer = server.writers[caller % server.writers.length];
      if (writer === undefined) throw new Error('there is no writer');
      while (performance.now() < end) {
        await send(server, writer, 'as fast as it goes');
        done += 1;
      }
    });
    await Promise.all(callers);
    // The first one warms up.
    if (round > 0) rates.push(done / SECONDS);
  }
  printRow(atLeast('messages sent and durable, PostgreSQL and callers beside', median(rates), 'a second', 2_000));
}
