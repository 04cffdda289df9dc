// Through the messaging bridge: how soon somebody on another homeserver is heard, beside the same between two clients that are not
// ours, and what accounts cost in memory. Two Synapses with SQLite and the bridge, each a process, on all cores of the machine.
import { setTimeout as delay } from 'node:timers/promises';
import { type BridgeWorld, type Person, startBridgeWorld } from '../../tests/support/bridge-world.ts';
import { startChild } from '../../tests/support/child.ts';
import { type MatrixClient, startMatrixClient } from '../../tests/support/matrix-client.ts';
import { startSynapses, synapsePackages } from '../../tests/support/synapse.ts';
import { until } from '../../tests/support/wait.ts';
import { atMost, median, printRow, reported } from '../machine.ts';
import { settledResident } from '../platform/process-memory.ts';

const MAIN = new URL('../../tests/support/bridge-process-main.ts', import.meta.url).pathname;
/** One after the other, after some that warm up. */
const MESSAGES = 60;
const WARM_UP = 10;
const ACCOUNTS = 200;
const AT_ONCE = 4;
const PATIENCE_MS = 60_000;
/** Within which an account that nobody uses is closed. */
const IDLE_MS = 5_000;
const MiB = 1024 * 1024;

export async function measureBridge(): Promise<void> {
  const packages = await synapsePackages();
  if (packages === null) {
    process.stderr.write('  the bridge was not measured: it needs Python with venv, and a package index\n');
    return;
  }
  await measureForeign(packages);
  await using parts = new AsyncDisposableStack();
  const world = await startBridgeWorld(packages);
  parts.defer(() => world.close());
  // In a process of its own, whose memory is nobody else's.
  await world.stopBridge();
  const start = async (idle?: number) => {
    const serving = Promise.withResolvers<void>();
    const bridge = startChild(MAIN, {
      environment: { TEST_BRIDGE_OPTIONS: JSON.stringify({ ...world.options, idle }) },
      onLine: () => serving.resolve(),
    });
    await serving.promise;
    return bridge;
  };
  const bridge = await start();
  const stopped = parts.use(new AsyncDisposableStack());
  stopped.defer(() => bridge.kill());
  await measureLatency(world);
  await measureMemory(world, bridge.pid);
  await stopped.disposeAsync();
  const fresh = await start(IDLE_MS);
  parts.defer(() => fresh.kill());
  await measureIdle(world, fresh.pid);
}

async function answered(person: Person): Promise<void> {
  await until('the bridge to answer', () => person.ask('identity', {}).then(Boolean, () => false), PATIENCE_MS);
}

/** From before the client of the other side is told to send until core's waiting call is answered. */
async function measureLatency(world: BridgeWorld): Promise<void> {
  const zoe = await world.stranger('zoe');
  const ada = world.person('ada');
  await answered(ada);
  await ada.ask('direct', { to: zoe.userId });
  const room = await zoe.invitedBy(ada.userId);
  await zoe.do('join', { room });
  await ada.conversationWith(zoe.userId, 'open');
  let { cursor } = await ada.ask('sync', { timeoutMs: 0, limit: 1 });
  const times = await timesOf(zoe, room, async (body) => {
    for (;;) {
      const news = await ada.ask('sync', { cursor, timeoutMs: 30_000, limit: 100 });
      ({ cursor } = news);
      if (news.messages.some((one) => one.body === body)) return;
    }
  });
  printRow(atMost('the same to a reader of the bridge that waits, median', median(times), 'ms', 150));
}

/** On two servers that know no bridge: the namespace of the bridge has everybody of its own. */
async function measureForeign(packages: string): Promise<void> {
  await using parts = new AsyncDisposableStack();
  const synapses = await startSynapses(packages, { west: {}, east: {} });
  parts.defer(() => synapses.close());
  const { west, east } = synapses.servers;
  const yan = await startMatrixClient(packages, west, 'yan');
  parts.defer(() => yan.close());
  const max = await startMatrixClient(packages, east, 'max');
  parts.defer(() => max.close());
  const { room } = await yan.do('create', { to: max.userId });
  await max.invitedBy(yan.userId);
  await max.do('join', { room });
  const times = await timesOf(yan, String(room), async (body) => {
    while (!max.arrived.some((one) => one.event === 'message' && one.body === body)) await delay(1);
  });
  printRow(reported('between two clients that are not ours (matrix-nio), on two servers, median', median(times), 'ms'));
}

/** How long each message takes. @param heard resolves when a message of this text is there */
async function timesOf(sender: MatrixClient, room: string, heard: (body: string) => Promise<void>): Promise<number[]> {
  const times: number[] = [];
  for (let count = 0; count < WARM_UP + MESSAGES; count += 1) {
    const body = `message ${count}`;
    const hearing = heard(body);
    const started = performance.now();
    await sender.do('send', { room, body });
    await hearing;
    if (count >= WARM_UP) times.push(performance.now() - started);
  }
  return times;
}

async function measureMemory(world: BridgeWorld, pid: number): Promise<void> {
  const before = await settledResident(pid);
  const names = Array.from({ length: ACCOUNTS }, (_, index) => `many${index}`);
  const started = performance.now();
  for (let begun = 0; begun < ACCOUNTS; begun += AT_ONCE)
    await Promise.all(names.slice(begun, begun + AT_ONCE).map((name) => world.person(name).ask('identity', {})));
  const seconds = (performance.now() - started) / 1_000;
  printRow(reported(`accounts made known to the homeserver, ${AT_ONCE} at a time`, ACCOUNTS / seconds, 'a second'));
  const cost = (await settledResident(pid)) - before;
  printRow(reported(`${ACCOUNTS} accounts in memory`, cost / MiB, 'MiB'));
}

/** The same accounts in a process that has opened and closed them. */
async function measureIdle(world: BridgeWorld, pid: number): Promise<void> {
  await answered(world.person('many0'));
  await delay(2 * IDLE_MS);
  printRow(
    reported(`the bridge with ${ACCOUNTS} accounts that nobody uses`, (await settledResident(pid)) / MiB, 'MiB'),
  );
}
