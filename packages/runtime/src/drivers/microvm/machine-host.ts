// What virtual machines need on this machine: the enclosure's host, the images and the programs, prepared once.
import { join } from 'node:path';
import type { Log } from '../../clock.ts';
import { type EgressWays, NoEgress } from '../../network/egress.ts';
import { openEgress } from '../../network/open-egress.ts';
import { openCgroups } from '../process/cgroup.ts';
import { prepareHostFiles, removeStaleSockets } from '../process/host-files.ts';
import type { SandboxHost } from '../process/launch.ts';
import { openResolverFolder, type ResolverFile } from '../process/resolver-file.ts';
import { cgroupName } from '../process/sandbox-host.ts';
import { findTools } from '../process/tools.ts';
import { baseImage, initramfs } from './base-image.ts';
import { prepareKeeper } from './enclosure.ts';
import { type Images, openImages } from './images.ts';
import type { Equipment } from './requirements.ts';

export interface MachineHost {
  readonly sandbox: SandboxHost;
  readonly images: Images;
  readonly equipment: Equipment;
  /** The way to the internet for machines whose owners grant it. */
  readonly egress: EgressWays | NoEgress;
  readonly dns: readonly string[];
  readonly resolverFile: (key: string) => ResolverFile;
  readonly log: Log;
  readonly keeper: string;
  readonly base: string;
  readonly initramfs: string;
}

export interface MachineHostOptions {
  readonly dataDirectory: string;
  /** Folder of the images. */
  readonly imageDirectory: string;
  /** The caller owns the data folder, so what an earlier Runtime left behind is ended and removed. */
  readonly owner: boolean;
  /** Name servers of workloads that may reach the internet. */
  readonly dns: readonly string[];
  readonly log: Log;
}

export async function openMachineHost(
  { dataDirectory, imageDirectory, owner, dns, log }: MachineHostOptions,
  equipment: Equipment,
): Promise<MachineHost> {
  const files = prepareHostFiles(dataDirectory);
  const cgroups = openCgroups(cgroupName(dataDirectory));
  if (owner) {
    removeStaleSockets(files.run);
    await cgroups.removeStale();
  }
  const egress = owner ? await openEgress({ dataDirectory, reachable: false, log }) : new NoEgress('this is a trial.');
  const resolverFile = openResolverFolder(join(dataDirectory, 'runtime', 'resolvers'));
  const images = await openImages(imageDirectory, equipment.makeErofs);
  const [base, initial] = await Promise.all([baseImage(images, equipment), initramfs(images, equipment)]);
  if (owner) await images.removeFormer();
  return {
    sandbox: { way: 'unshare-as-root', tools: findTools(), files, cgroups },
    images,
    equipment,
    egress,
    dns,
    resolverFile,
    log,
    keeper: prepareKeeper(join(dataDirectory, 'runtime', 'keeper')),
    base,
    initramfs: initial,
  };
}

export async function closeMachineHost(host: MachineHost): Promise<void> {
  if (!(host.egress instanceof NoEgress)) await host.egress.close();
  host.sandbox.cgroups.close();
  host.images.close();
}
