// An agent in a virtual machine: the platform brings its worker there too.
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { lacksEquipment, settingsForTests } from '../../../packages/runtime/test-support/microvm/equipment.ts';
import { lendImages } from '../../../packages/runtime/test-support/microvm/lend-images.ts';
import { type AgentPlatform, answersTwice, startAgentPlatform } from './agent-platform.ts';

const skip = lacksEquipment();
let world: AgentPlatform;

before(async () => {
  if (skip !== false) return;
  const { kernel = '' } = settingsForTests();
  world = await startAgentPlatform(
    { PLATFORM_RUNTIME_DRIVER: 'microvm', PLATFORM_MICROVM_KERNEL: kernel },
    ({ dataDirectory }) => lendImages(join(dataDirectory, 'microvm')),
  );
});
after(async () => {
  await world?.close();
});

test('an agent in a virtual machine answers, and remembers across its starts', { skip }, () => answersTwice(world));
