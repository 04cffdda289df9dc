// Cold starts of virtual machines through the whole platform, beside bare QEMU that boots the same kernel and image, in
// turns. Says how the guests' processor was run, which is the whole difference.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findEquipment, probeMicrovm } from '../../packages/runtime/test-support/internals.ts';
import { settingsForTests } from '../../packages/runtime/test-support/microvm/equipment.ts';
import { registerAccount } from '../../tests/support/client.ts';
import { platformPlace, startPlatform } from '../../tests/support/platform-process.ts';
import { atMost, median, percentile, printRow, reported } from '../machine.ts';
import { installHello, openColdStart } from '../platform/hello-app.ts';
import { openBareMachine } from './bare-machine.ts';

const STARTS = 8;
/** Each waits 15 s for a start. */
const REQUESTS = 8;
const silent = () => undefined;

/** Prints its rows, or says on standard error why there are none. */
export async function benchMicrovm(): Promise<void> {
  const equipment = findEquipment(settingsForTests());
  if (!('monitor' in equipment)) {
    process.stderr.write(`  no virtual machines: ${equipment.join(' ')}\n`);
    return;
  }
  const trial = mkdtempSync(join(tmpdir(), 'bench-trial-'));
  const images = join(trial, 'images');
  const log = { debug: silent, info: silent, warn: silent, error: silent };
  const { acceleration, mechanism } = await probeMicrovm({
    ...{ ...settingsForTests(), dataDirectory: trial, imageDirectory: images, log },
  });
  if (acceleration === 'none') throw new Error('no guest boots here');
  const place = await platformPlace({ PLATFORM_RUNTIME_DRIVER: 'microvm', PLATFORM_MICROVM_KERNEL: equipment.kernel });
  const platform = await startPlatform(place);
  const bare = await openBareMachine(equipment, { images, acceleration });
  try {
    const account = await registerAccount(place, 'bench');
    await installHello(place, account);
    const coldStart = await openColdStart(place, account, { requests: REQUESTS });
    const ours: number[] = [];
    const theirs: number[] = [];
    const processor: number[] = [];
    for (let start = -1; start < STARTS; start += 1) {
      const milliseconds = await coldStart();
      const one = await bare.coldStart();
      if (start < 0) continue;
      ours.push(milliseconds);
      theirs.push(one.milliseconds);
      processor.push(one.processorSeconds);
    }
    const name = `cold start (microvm, ${mechanism}) to first byte through the Gateway`;
    printRow(
      acceleration === 'kvm'
        ? atMost(`${name}, median`, median(ours), 'ms', 1_000)
        : reported(`${name}, median`, median(ours), 'ms'),
    );
    printRow(reported('the same, 95th percentile', percentile(ours, 95), 'ms'));
    printRow(reported('bare QEMU booting the same kernel and image, median', median(theirs), 'ms'));
    printRow(reported('the same, 95th percentile', percentile(theirs, 95), 'ms'));
    printRow(reported('processor time that bare QEMU took for one, median', median(processor), 's'));
    printRow(reported('our part of a cold start of a machine', median(ours) - median(theirs), 'ms'));
  } finally {
    bare.close();
    await platform.stop();
    await place.remove();
    rmSync(trial, { recursive: true, force: true });
  }
}
