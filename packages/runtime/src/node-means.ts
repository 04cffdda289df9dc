// What a Runtime works with: the driver and what an earlier Runtime left running, core, and what lies on the disk.
import { join } from 'node:path';
import type { Assignment } from '@platform/contract';
import { type LinkCertificate, linkCertificate } from '@platform/link';
import { openRunnables, type Runnables } from './agents.ts';
import { type Clock, machineUptime, systemClock } from './clock.ts';
import { type CoreClient, createCoreClient } from './core-client.ts';
import { type DiskWatch, openDiskWatch } from './disk-watch.ts';
import type { Driver } from './drivers/driver.ts';
import { type DriverOptions, openDriver } from './drivers/open-driver.ts';
import { type Identities, openIdentities, takenIds } from './identities.ts';
import { type Failures, openFailures } from './lifecycle/failures.ts';
import { Resting } from './lifecycle/resting.ts';
import { findSurvivors, type Survivors } from './lifecycle/survivors.ts';
import { type LogStore, openLogStore } from './logs/log-store.ts';
import { openUdpPorts, type UdpPorts } from './network/udp-ports.ts';
import { openPackageStore, type PackageStore } from './packages.ts';
import type { RuntimeOptions } from './runtime-options.ts';
import { openSharedVolumes, type SharedVolumes } from './shared-volumes.ts';
import { volumeCapacityMiB } from './volumes/volume-capacity.ts';
import { openVolumes, type Volumes } from './volumes/volumes.ts';

/** What core last said that this node should run. */
export class Wanted {
  items: readonly Assignment[] = [];
  /** Whether these are core's current assignments, as far as this node knows. */
  isInformed = false;
}

export interface NodeMeans {
  readonly clock: Clock;
  /** Milliseconds since some moment, going on while the machine sleeps. */
  readonly uptime: () => number;
  readonly core: CoreClient;
  /** What this node shows a core on another machine. */
  readonly link: LinkProof;
  readonly driver: Driver;
  /** Why this driver was chosen. */
  readonly because: readonly string[];
  readonly survivors: Survivors;
  readonly disk: DiskWatch;
  /** Being measured since the start. */
  readonly volumeCapacityMiB: Promise<number>;
  readonly volumes: Volumes;
  /** Undefined on a node that shares none. */
  readonly sharedVolumes: SharedVolumes | undefined;
  /** Whose volumes are being copied. */
  readonly resting: Resting;
  readonly logs: LogStore;
  readonly packages: PackageStore;
  readonly runnables: Runnables;
  /** Undefined as an ordinary user: everything runs as that user then. */
  readonly identities: Identities | undefined;
  readonly failures: Failures;
  readonly udpPorts: UdpPorts;
}

interface LinkProof {
  readonly linkCertificate?: LinkCertificate;
}

/** @param ending aborted when the Runtime stops. @throws Error when the data folder or the driver cannot be used */
export async function openMeans(options: RuntimeOptions, wanted: Wanted, ending: AbortSignal): Promise<NodeMeans> {
  const { dataDirectory, log } = options;
  const own = systemClock(options.clock);
  const clock: Clock = { ...own, after: options.after ?? own.after, elapsed: options.elapsed ?? own.elapsed };
  const volumes = openVolumes(join(dataDirectory, 'volumes'));
  const disk = openDiskWatch(dataDirectory, log, options.diskSpace);
  const measuring = volumeCapacityMiB(join(dataDirectory, 'volumes'), log);
  const link = await proofOfNode(options);
  const { driver, because } = await openDriver({
    ...options,
    ...coreLink(options, link),
    requireRoom: disk.requireRoom,
  });
  const survivors = await findSurvivors(driver, log);
  const uptime = options.uptime ?? machineUptime;
  const core = createCoreClient({ ...options, ...link, uptime });
  const packages = openPackageStore(
    join(dataDirectory, 'workloads'),
    (hash) => core.packageBlob(hash, ending),
    disk.requireRoom,
  );
  return {
    clock,
    uptime,
    core,
    link,
    driver,
    because,
    survivors,
    disk,
    volumeCapacityMiB: measuring,
    volumes,
    sharedVolumes: sharedVolumesOf(options, driver),
    resting: new Resting(),
    logs: openLogStore(join(dataDirectory, 'logs'), clock, log, () => disk.level() !== 'room'),
    packages,
    runnables: openRunnables(packages, join(dataDirectory, 'agents'), options.agentWorker),
    identities:
      process.getuid?.() === 0
        ? openIdentities(
            join(dataDirectory, 'runtime', 'identities.json'),
            takenIds(dataDirectory),
            () => !volumes.haveOwners(),
          )
        : undefined,
    failures: openFailures(join(dataDirectory, 'runtime', 'failures.json'), log),
    udpPorts: openUdpPorts({
      file: join(dataDirectory, 'runtime', 'udp-ports.json'),
      options: options.udp,
      isHere: (id) => wanted.items.some(({ installationId }) => installationId === id),
    }),
  };
}

async function proofOfNode({ coreOrigin, nodeKey }: RuntimeOptions): Promise<LinkProof> {
  if (nodeKey === undefined || new URL(coreOrigin).protocol !== 'https:') return {};
  return { linkCertificate: await linkCertificate(nodeKey) };
}

function coreLink(
  { coreOrigin, coreHost: host, coreKey: key }: RuntimeOptions,
  { linkCertificate: certificate }: LinkProof,
): Pick<DriverOptions, 'coreLink'> {
  return new URL(coreOrigin).protocol === 'https:' ? { coreLink: { host, key, certificate } } : {};
}

function sharedVolumesOf(
  { sharedVolumes: folder, log }: RuntimeOptions,
  { report }: Driver,
): SharedVolumes | undefined {
  const shared = openSharedVolumes(folder, report);
  if (folder !== undefined && shared === undefined)
    log.warn({ driver: report.driver }, 'this driver does not share volumes; they are stored on this machine only');
  return shared;
}
