// What this machine lends to tests of virtual machines, and why they are skipped where it cannot.
import { fileURLToPath } from 'node:url';
import { findEquipment, type MicrovmSettings } from '../../src/drivers/microvm/requirements.ts';

/** `.ci/run` unpacks a kernel and says where. */
export function settingsForTests(): MicrovmSettings {
  const { TEST_GUEST_KERNEL: kernel } = process.env;
  return { monitor: 'qemu', ...(kernel === undefined ? {} : { kernel }) };
}

/** For `skip` of a test: false where machines can be run. */
export function lacksEquipment(): string | false {
  const equipment = findEquipment(settingsForTests());
  return 'monitor' in equipment ? false : equipment.join(' ');
}

/**
 * Images, and what a trial guest found out, for all tests of this checkout: making them takes longer than most tests.
 * They are named after what they are made of, so that none is ever stale.
 */
export const imagesOfTests = fileURLToPath(new URL('../../../../node_modules/.cache/guest-images', import.meta.url));
