// The whole platform as `platform start` runs it: memory when idle, cold start of a workload, cost of one that sleeps.
import { registerAccount } from '../../tests/support/client.ts';
import { platformPlace, startPlatform } from '../../tests/support/platform-process.ts';
import { atMost, median, percentile, printRow } from '../machine.ts';
import { addSleepers, installHello, openColdStart } from './hello-app.ts';
import { settledResident } from './process-memory.ts';

const MiB = 1024 * 1024;
const STARTS = 30;
const SLEEPING = 1_000;

const place = await platformPlace();
const platform = await startPlatform(place);
try {
  const account = await registerAccount(place, 'bench');
  // Idle: behind its start, and without a request for a while.
  await new Promise((resolve) => setTimeout(resolve, 30_000));
  printRow(
    atMost(
      'whole platform idle with one account, PostgreSQL included',
      (await settledResident(platform.pid)) / MiB,
      'MiB',
      300,
    ),
  );
  await installHello(place, account);
  const coldStart = await openColdStart(place, account);
  const times: number[] = [];
  for (let start = -2; start < STARTS; start += 1) {
    const milliseconds = await coldStart();
    if (start >= 0) times.push(milliseconds);
  }
  printRow(atMost('workload cold start to first answered request, median', median(times), 'ms', 250));
  printRow(atMost('the same, 95th percentile', percentile(times, 95), 'ms', 350));
  const before = await settledResident(platform.pid);
  await addSleepers(place, SLEEPING);
  const each = ((await settledResident(platform.pid)) - before) / SLEEPING;
  printRow(atMost(`a sleeping installation (of ${SLEEPING})`, each / 1024, 'KiB', 50));
} finally {
  await platform.stop();
  await place.remove();
}
