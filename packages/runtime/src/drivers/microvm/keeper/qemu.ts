// QEMU's machine type `microvm` as the monitor: without PCI, a firmware menu, or devices beyond the few that a guest
// needs.
import { spawn } from 'node:child_process';
import { enclosed, guestMac, type Machine, tapDevice } from '../places.ts';
import { type Monitor, watch } from './monitor.ts';

/**
 * What WebAssembly with SIMD needs and no more: newer instructions take longer to emulate than they save. Without ARAT
 * the guest's kernel takes the timer for one that stops in idle: it ticks 250 times a second for ever, which cost the
 * host 6 % of a processor for each idle guest, and a timer of 1 ms ends after 4.
 */
const EMULATED_PROCESSOR = 'Nehalem-v1,+rdrand,+arat';

export function qemu(machine: Machine): Monitor {
  const child = spawn(machine.program, qemuArguments(machine), {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' },
  });
  return watch(child);
}

/**
 * Translated code that emulation may keep; part of what machine-plan.ts adds to the guest's memory. A guest has
 * translated 122 MiB when its Node listens: with half of it everything was thrown away twice and translated again.
 */
export const translationMiB = 128;

export function qemuArguments(machine: Machine): string[] {
  const { acceleration, processors, memoryMiB } = machine;
  const drives = [
    { name: 'base', file: enclosed.base, writable: false },
    { name: 'app', file: enclosed.app, writable: false },
    ...(machine.volume ? [{ name: 'volume', file: enclosed.volume, writable: true }] : []),
  ];
  return [
    '-no-user-config',
    '-nodefaults',
    '-no-reboot',
    '-display',
    'none',
    '-sandbox',
    'on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny',
    // Without ACPI Debian's kernel, which has no virtio-mmio devices on its command line, finds no device.
    '-machine',
    'microvm,acpi=on,isa-serial=on,rtc=on,pit=off,pic=off',
    '-accel',
    acceleration === 'kvm' ? 'kvm' : `tcg,thread=multi,tb-size=${translationMiB}`,
    '-cpu',
    acceleration === 'kvm' ? 'host' : EMULATED_PROCESSOR,
    '-smp',
    String(processors),
    '-m',
    `${memoryMiB}M`,
    '-kernel',
    enclosed.kernel,
    '-initrd',
    enclosed.initramfs,
    '-append',
    machine.kernelArguments.join(' '),
    '-serial',
    'stdio',
    ...drives.flatMap(({ name, file, writable }) => [
      '-drive',
      `if=none,id=${name},format=raw,file=${file},readonly=${writable ? 'off' : 'on'},discard=${writable ? 'unmap' : 'ignore'}`,
      '-device',
      `virtio-blk-device,drive=${name},serial=${name}`,
    ]),
    '-netdev',
    `tap,id=net,ifname=${tapDevice},script=no,downscript=no,vhost=off`,
    '-device',
    `virtio-net-device,netdev=net,mac=${guestMac}`,
  ];
}
