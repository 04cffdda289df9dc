// The keys of services with virtual machines: a machine's memory is searched from outside, with everything that its guest
// keeps there.
import { join } from 'node:path';
import { test } from 'node:test';
import { processTree } from '../../bench/platform/process-memory.ts';
import { lacksEquipment, settingsForTests } from '../../packages/runtime/test-support/microvm/equipment.ts';
import { lendImages } from '../../packages/runtime/test-support/microvm/lend-images.ts';
import { environmentTexts } from '../support/sweep.ts';
import { keysOfServices } from './canary-suite.ts';

const lack = lacksEquipment();
if (lack !== false) test('keys of services with virtual machines', { skip: lack }, () => undefined);
else
  keysOfServices({
    open: async () => ({ PLATFORM_RUNTIME_DRIVER: 'microvm', PLATFORM_MICROVM_KERNEL: settingsForTests().kernel }),
    prepare: (dataDirectory) => lendImages(join(dataDirectory, 'microvm')),
    processes: async ({ pid }) => processTree(pid),
    workloads: async ({ pid }) =>
      processTree(pid).filter((one) => environmentTexts([one])[`cmdline of process ${one}`]?.includes('qemu-system')),
    machines: true,
    texts: async () => ({}),
    close: async () => undefined,
  });
