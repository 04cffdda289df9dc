// What the Runtime of a node costs: a thousand installations that sleep, fifty that wake at once, a list of assignments
// in which nothing changed, and cold starts beside a bare bubblewrap and a bare dockerd that do the same.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { engineMissing } from '../../packages/runtime/test-support/docker-engine.ts';
import { registerAccount } from '../../tests/support/client.ts';
import { type PlatformPlace, platformPlace, startPlatform } from '../../tests/support/platform-process.ts';
import { atMost, median, percentile, printRow, reported } from '../machine.ts';
import { addSleepers, askSleeper, installHello, openColdStart } from '../platform/hello-app.ts';
import { processorSecondsOfTree, settledResident } from '../platform/process-memory.ts';
import { openBareBubblewrap } from './bare-bubblewrap.ts';
import { benchMicrovm } from './microvm.ts';
import { reconcileCpu } from './reconcile-cpu.ts';
import { restingCounts } from './resting-counts.ts';

const MiB = 1024 * 1024;
const STARTS = 30;
const SLEEPING = 1_000;
const WOKEN = 50;

printRow(
  atMost(
    `reconcile of ${SLEEPING} unchanged installations, processor time with reading the list`,
    await reconcileCpu(SLEEPING),
    'ms',
    50,
  ),
);

const place = await platformPlace();
const platform = await startPlatform(place);
const bare = await openBareBubblewrap();
try {
  const account = await registerAccount(place, 'bench');
  await installHello(place, account);
  // Started once, so that what the first start loads for all is not counted.
  const coldStart = await openColdStart(place, account);
  await coldStart();
  const before = { memory: await settledResident(platform.pid), counts: await restingCounts(platform.pid) };
  await addSleepers(place, SLEEPING);
  const asleep = { memory: await settledResident(platform.pid), counts: await restingCounts(platform.pid) };
  const added = (asleep.memory - before.memory) / MiB;
  printRow(atMost(`${SLEEPING} sleeping installations, memory above idle`, added, 'MiB', 60));
  printRow(atMost('their processes', asleep.counts.processes - before.counts.processes, '', 0));
  printRow(atMost('their ports and connections', asleep.counts.sockets - before.counts.sockets, '', 0));

  // Beside all that sleep.
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let start = -2; start < STARTS; start += 1) {
    // In turns, so that whatever else happens on the machine happens to both.
    const milliseconds = [await coldStart(), await bare.coldStart()] as const;
    if (start < 0) continue;
    ours.push(milliseconds[0]);
    theirs.push(milliseconds[1]);
  }
  printRow(atMost('cold start (process) to first byte through the Gateway, median', median(ours), 'ms', 200));
  printRow(atMost('the same, 95th percentile', percentile(ours, 95), 'ms', 350));
  printRow(reported('bare bwrap doing the same, median', median(theirs), 'ms'));
  printRow(reported('the same, 95th percentile', percentile(theirs, 95), 'ms'));
  printRow(atMost('our part of a cold start', median(ours) - median(theirs), 'ms', 80));

  const { seconds, failed, processorSeconds } = await wake(place, platform.pid, WOKEN);
  printRow(atMost(`waking ${WOKEN} of them at once, until the last has answered`, seconds, 's', 10));
  printRow(atMost('of these not answered', failed, '', 0));
  printRow(reported('processor time that these starts took, of both cores together', processorSeconds, 's'));
} finally {
  bare.close();
  await platform.stop();
  await place.remove();
}
await benchMicrovm();

// A dockerd makes bridges and packet rules: in a network namespace that ends with it.
const missing = engineMissing();
if (missing === false) {
  const script = fileURLToPath(new URL('docker.ts', import.meta.url));
  const inside = ['sh', '-euc', 'ip link set lo up; exec "$0" "$1"', process.execPath, script];
  const child = spawn('unshare', ['--net', ...inside], { stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`the cold starts of containers ended with ${code}`);
} else process.stderr.write(`  cold starts of containers are not measured: ${missing}\n`);

async function wake(
  where: PlatformPlace,
  pid: number,
  count: number,
): Promise<{ seconds: number; failed: number; processorSeconds: number }> {
  const used = processorSecondsOfTree(pid);
  const begun = performance.now();
  const answers = await Promise.all(Array.from({ length: count }, (_, index) => askSleeper(where, index + 1)));
  const failures = answers.filter(({ status, text }) => status !== 200 || text !== 'hello');
  for (const { status, text } of failures.slice(0, 1)) process.stderr.write(`  ${status} ${text}\n`);
  const seconds = (performance.now() - begun) / 1_000;
  return { seconds, failed: failures.length, processorSeconds: processorSecondsOfTree(pid) - used };
}
