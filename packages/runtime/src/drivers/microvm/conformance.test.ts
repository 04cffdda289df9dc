// The microvm driver shows what every driver must, with QEMU, which emulates the processor where KVM does not work.
import { test } from 'node:test';
import { driverConformance } from '../../../test-support/conformance/suite.ts';
import { imagesOfTests, lacksEquipment } from '../../../test-support/microvm/equipment.ts';

const lack = lacksEquipment();
if (lack === false) {
  driverConformance({
    name: 'microvm, QEMU',
    module: new URL('../../../test-support/conformance/microvm.ts', import.meta.url),
    options: { imageDirectory: imagesOfTests },
    // Emulated guests on a machine whose processors are busy with other tests too.
    timeFactor: 12,
    parallel: 2,
    can: { runtimeKilled: 'ends', cpuTimeSeenInside: false, ownKernel: true, publishesUdp: true },
  });
} else {
  test('driver microvm, QEMU', { skip: lack }, () => undefined);
}
