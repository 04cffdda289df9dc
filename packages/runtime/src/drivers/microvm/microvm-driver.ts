// The `microvm` driver: a workload of runtime `node` in a virtual machine of its own, under QEMU or Firecracker.
// docs/decisions/microvm-driver.md describes its isolation and the reasons for the design.
import { join } from 'node:path';
import type { Log } from '../../clock.ts';
import type { RequireRoom } from '../../disk-watch.ts';
import { type Driver, type DriverReport, StartRefused } from '../driver.ts';
import { closeMachineHost, type MachineHost, openMachineHost } from './machine-host.ts';
import type { Acceleration } from './machine-plan.ts';
import { probeMachine } from './probe.ts';
import { findEquipment, type MicrovmSettings } from './requirements.ts';
import { runMachine } from './run-machine.ts';

export interface MicrovmDriverOptions extends MicrovmSettings {
  /** Absolute. Others must be able to enter it and every folder above. */
  readonly dataDirectory: string;
  /** Where images are kept, and what trials found. Default: `microvm` in the data folder. */
  readonly imageDirectory?: string;
  /** Whether a machine without working KVM may emulate the guests' processor. Default: accepted. */
  readonly emulation?: 'accepted' | 'refused';
  /** Name servers of workloads that may reach the internet. Default: none. */
  readonly dns?: readonly string[];
  /** Asked before the image of an app is made. Default: the disk has room for all. */
  readonly requireRoom?: RequireRoom;
  readonly log: Log;
}

export interface MicrovmReport extends DriverReport {
  readonly driver: 'microvm';
  /** How guests' code runs: by the processor itself, or translated in software; `none` where no guest boots. */
  readonly acceleration: Acceleration | 'none';
}

export interface MicrovmDriver extends Driver {
  readonly report: MicrovmReport;
}

/** Whether a guest really boots here, and how. A trial machine is started once for each boot of the host. */
export async function probeMicrovm(options: MicrovmDriverOptions): Promise<MicrovmReport> {
  const { report, host } = await prepare(options, { owner: false });
  if (host !== undefined) await closeMachineHost(host);
  return report;
}

export async function openMicrovmDriver(options: MicrovmDriverOptions): Promise<MicrovmDriver> {
  const { report, host } = await prepare(options, { owner: true });
  return {
    report,
    makesVolumes: true,
    unenforced: () => [
      ...(report.limits.memory === false
        ? ['Its memory is not limited on this machine: no virtual machine can be run.']
        : []),
      ...(report.limits.cpus === false
        ? ['Its processor time is not limited on this machine: no control group is writable.']
        : []),
    ],
    // A machine ends with the Runtime by the kernel's hand, and opening the host has cleared its traces away.
    list: async () => [],
    adopt: async () => undefined,
    destroy: async () => undefined,
    async prepare({ app, manifest }) {
      if (report.ok && manifest.runtime !== 'oci') await host?.images.ofFolder(app, options.requireRoom);
    },
    async keepOnly(workloads) {
      host?.images.keepFolders(new Set(workloads.map(({ app }) => app)));
    },
    async start(spec) {
      if (host === undefined || report.acceleration === 'none') {
        throw new StartRefused(`This machine cannot run virtual machines: ${report.reasons[0] ?? 'the trial failed.'}`);
      }
      return runMachine(host, spec, report.acceleration);
    },
    async close() {
      if (host !== undefined) await closeMachineHost(host);
    },
  };
}

async function prepare(
  options: MicrovmDriverOptions,
  { owner }: { readonly owner: boolean },
): Promise<{ report: MicrovmReport; host: MachineHost | undefined }> {
  const equipment = findEquipment(options);
  if (!('monitor' in equipment)) return { report: unusable(equipment), host: undefined };
  const { dataDirectory, imageDirectory = join(dataDirectory, 'microvm') } = options;
  const host = await openMachineHost(
    { dataDirectory, imageDirectory, owner, dns: options.dns ?? [], log: options.log },
    equipment,
  );
  const trial = await probeMachine(host, {
    dataDirectory,
    memory: join(imageDirectory, 'trial.json'),
    emulation: options.emulation ?? 'accepted',
  });
  if (trial.acceleration === 'none') return { report: unusable(trial.reasons), host };
  const { enforced } = host.sandbox.cgroups;
  const name = equipment.monitor === 'qemu' ? 'QEMU' : 'Firecracker';
  const report: MicrovmReport = {
    driver: 'microvm',
    ok: true,
    runtimes: ['node', 'binary'],
    mechanism: trial.acceleration === 'kvm' ? `${name} with KVM` : `${name} emulating the processor (TCG)`,
    acceleration: trial.acceleration,
    limits: { memory: 'vm', cpus: enforced.has('cpu') ? 'cgroup' : false, pids: 'vm', sockets: 'vm' },
    reasons: trial.reasons,
  };
  return { report, host };
}

function unusable(reasons: readonly string[]): MicrovmReport {
  return {
    driver: 'microvm',
    ok: false,
    runtimes: ['node', 'binary'],
    mechanism: 'none',
    acceleration: 'none',
    limits: { memory: false, cpus: false, pids: false, sockets: false },
    reasons,
  };
}
