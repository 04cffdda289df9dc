// Settings of the driver `microvm`: its programs and images. What is not set is searched for on the machine.
import { choiceOf, optionalPathOf, type Read } from './variables.ts';

export interface MicrovmSettings {
  readonly monitor?: 'qemu' | 'firecracker';
  readonly kernel?: string;
  readonly modules?: string;
  readonly firecracker?: string;
}

export function readMicrovmSettings(read: Read): MicrovmSettings {
  const kernel = optionalPathOf(read, 'PLATFORM_MICROVM_KERNEL');
  const modules = optionalPathOf(read, 'PLATFORM_MICROVM_MODULES');
  const firecracker = optionalPathOf(read, 'PLATFORM_MICROVM_FIRECRACKER');
  return {
    ...(read('PLATFORM_MICROVM_MONITOR') === undefined
      ? {}
      : { monitor: choiceOf(read, 'PLATFORM_MICROVM_MONITOR', ['qemu', 'firecracker'] as const) }),
    ...(kernel === null ? {} : { kernel }),
    ...(modules === null ? {} : { modules }),
    ...(firecracker === null ? {} : { firecracker }),
  };
}
