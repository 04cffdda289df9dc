// What this machine lends to tests of virtual machines, and why they are skipped where it cannot.
import { findEquipment, type MicrovmSettings } from '../requirements.ts';

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
