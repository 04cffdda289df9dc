// What packages do wrong stays with them, on a node of virtual machines.
import { join } from 'node:path';
import { test } from 'node:test';
import { badWorkloads } from '../../../test-support/conformance/bad-workloads.ts';
import { lacksEquipment, settingsForTests } from '../../../test-support/microvm/equipment.ts';
import { lendImages } from '../../../test-support/microvm/lend-images.ts';

const lack = lacksEquipment();
if (lack !== false) test('bad workloads in virtual machines', { skip: lack }, () => undefined);
else {
  badWorkloads({
    name: 'virtual machines',
    node: { driver: 'microvm', microvm: settingsForTests() },
    prepare: (dataDirectory) => lendImages(join(dataDirectory, 'microvm')),
    timeFactor: 12,
    // The guest's kernel counts, and ends with its machine.
    processLimitIn: 'log',
    boots: 'few',
  });
}
