// The network of a virtual machine follows its owner's grants, in an internet that no packet leaves. What only guests
// can try, such as forging addresses as root of their kernel, is in tests/system/microvm-network.test.ts.
import { test } from 'node:test';
import { inInternet, NAME_SERVER } from '../../testing/in-internet.ts';
import { networkPolicyBehaviour } from '../conformance/network-policy.ts';
import { imagesOfTests, lacksEquipment } from './test-support/equipment.ts';

const lack = lacksEquipment();
if (lack !== false) test('the network of virtual machines', { skip: lack }, () => undefined);
else {
  inInternet(import.meta.url, () =>
    networkPolicyBehaviour({
      name: 'microvm, QEMU',
      module: new URL('for-conformance.ts', import.meta.url),
      options: { imageDirectory: imagesOfTests, dns: NAME_SERVER },
      timeFactor: 12,
      can: { runtimeKilled: 'ends', cpuTimeSeenInside: false, ownKernel: true },
    }),
  );
}
