// The microvm driver shows what every driver must, with QEMU, which emulates the processor where KVM does not work.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { driverConformance } from '../conformance/suite.ts';
import { lacksEquipment } from './test-support/equipment.ts';

const lack = lacksEquipment();
if (lack === false) {
  const imageDirectory = mkdtempSync(join(tmpdir(), 'platform-images-'));
  chmodSync(imageDirectory, 0o711);
  after(() => rmSync(imageDirectory, { recursive: true, force: true }));
  driverConformance({
    name: 'microvm, QEMU',
    module: new URL('for-conformance.ts', import.meta.url),
    options: { imageDirectory },
    // Emulated guests on a machine whose processors are busy with other tests too.
    timeFactor: 12,
    can: { runtimeKilled: 'ends', cpuTimeSeenInside: false },
  });
} else {
  test('driver microvm, QEMU', { skip: lack }, () => undefined);
}
