// No way leads out of a virtual machine of the microvm driver. What gets through into the guest's own kernel is judged by
// what it does outside: nothing.
import { test } from 'node:test';
import { imagesOfTests, lacksEquipment } from '../../../packages/runtime/test-support/microvm/equipment.ts';
import { escapeSuite } from './suite.ts';

const lack = lacksEquipment();
if (lack === false) {
  escapeSuite({
    name: 'a virtual machine',
    module: new URL('../../../packages/runtime/test-support/conformance/microvm.ts', import.meta.url),
    options: { imageDirectory: imagesOfTests },
    timeFactor: 12,
    can: { runtimeKilled: 'ends', cpuTimeSeenInside: false, ownKernel: true },
  });
} else {
  test('a hostile workload in a virtual machine', { skip: lack }, () => undefined);
}
