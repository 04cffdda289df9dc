// Opens the driver of a node: lists the drivers and their options. Drivers that few machines use are loaded on demand.
import type { Log } from '../clock.ts';
import type { RequireRoom } from '../disk-watch.ts';
import type { GatewaySidecar, OutboundNetwork } from '../gateway-port.ts';
import { type Candidates, type Chosen, chooseDriver, type DriverChoice, type Opened } from './choose.ts';
import type { CoreLink } from './docker/core-relay.ts';
import type { Driver, DriverReport } from './driver.ts';
import type { MicrovmDriverOptions } from './microvm/microvm-driver.ts';
import { type MicrovmSettings, whyNoMicrovm } from './microvm/requirements.ts';
import type { Way } from './process/mechanism.ts';
import { openProcessDriver, probeProcessDriver } from './process/process-driver.ts';

export interface DriverOptions {
  /** Absolute. As root, others must be able to enter it and every folder above. */
  readonly dataDirectory: string;
  /** Which driver. Default: the strongest that this machine can run. */
  readonly driver?: DriverChoice;
  /** Runs workloads without walls where none can be made. Default: false. */
  readonly allowUnsandboxed?: boolean;
  /** Ways of confinement that the process driver tries, best first. Default: all that this machine has. */
  readonly ways?: readonly Way[];
  /** Name servers of workloads that may reach the internet. Default: none. */
  readonly workloadDns?: readonly string[];
  /** Without it there is no docker driver. */
  readonly gatewaySidecar?: GatewaySidecar;
  /** Unix socket of the container engine. Default `/var/run/docker.sock`. */
  readonly dockerSocket?: string;
  /** Registries from which images of packages may come: `host[:port][/path]`. Default: none. */
  readonly imageRegistries?: readonly string[];
  /** For a core that is reached over https. Default: it is reached over http. */
  readonly coreLink?: CoreLink;
  /** How Gateways reach what the operator has in networks of its own. Default: not at all. */
  readonly outbound?: OutboundNetwork;
  /** What virtual machines are run with. Default: what this machine has. */
  readonly microvm?: MicrovmSettings;
  /** Asked before an image of an app is made. Default: the disk has room for all. */
  readonly requireRoom?: RequireRoom;
  readonly log: Log;
}

export function openDriver(options: DriverOptions): Promise<Chosen<Driver>> {
  const { dataDirectory, log, ways, workloadDns } = options;
  return chooseDriver<Driver>(options.driver ?? 'auto', {
    microvm: {
      open: async () => (await import('./microvm/microvm-driver.ts')).openMicrovmDriver(microvm(options)),
      unfit: async () => whyNoMicrovm(microvm(options)),
    },
    process: {
      open: () =>
        openProcessDriver({
          dataDirectory,
          allowUnsandboxed: options.allowUnsandboxed === true,
          ...(ways === undefined ? {} : { ways }),
          ...(workloadDns === undefined ? {} : { dns: workloadDns }),
          log,
        }),
    },
    ...docker(options, 'run'),
  });
}

/** Tries the drivers as `openDriver` does, beside a Runtime that may be running, and leaves nothing. */
export async function probeDriver(options: DriverOptions): Promise<Omit<Chosen<Opened>, 'driver'> & DriverReport> {
  const { dataDirectory, ways, log } = options;
  const { driver, because } = await chooseDriver<Opened>(options.driver ?? 'auto', {
    microvm: {
      async open() {
        const { probeMicrovm } = await import('./microvm/microvm-driver.ts');
        return { report: await probeMicrovm(microvm(options)), close: async () => undefined };
      },
      unfit: async () => whyNoMicrovm(microvm(options)),
    },
    process: {
      async open() {
        const report = await probeProcessDriver({ dataDirectory, ...(ways === undefined ? {} : { ways }), log });
        return { report, close: async () => undefined };
      },
    },
    ...docker(options, 'look'),
  });
  await driver.close();
  return { ...driver.report, because };
}

/** Emulated guests are many times slower, so that only who names the driver gets them. */
function microvm(options: DriverOptions): MicrovmDriverOptions {
  const { dataDirectory, log, workloadDns, driver, requireRoom } = options;
  return {
    ...options.microvm,
    dataDirectory,
    emulation: driver === 'microvm' ? 'accepted' : 'refused',
    ...(workloadDns === undefined ? {} : { dns: workloadDns }),
    ...(requireRoom === undefined ? {} : { requireRoom }),
    log,
  };
}

function docker(options: DriverOptions, purpose: 'run' | 'look'): Candidates<Driver> {
  const { dataDirectory, log, gatewaySidecar: sidecar, dockerSocket, imageRegistries, workloadDns, coreLink } = options;
  const { requireRoom } = options;
  if (sidecar === undefined) return {};
  const open = async () =>
    (await import('./docker/docker-driver.ts')).openDockerDriver({
      ...{ dataDirectory, purpose, sidecar, log },
      ...(dockerSocket === undefined ? {} : { socketPath: dockerSocket }),
      ...(imageRegistries === undefined ? {} : { imageRegistries }),
      ...(workloadDns === undefined ? {} : { dns: workloadDns }),
      ...(coreLink === undefined ? {} : { coreLink }),
      ...(requireRoom === undefined ? {} : { requireRoom }),
      ...(options.outbound === undefined ? {} : { privateOrigins: options.outbound.privateOrigins }),
    });
  return { docker: { open } };
}
