// The options that confine a container, and the check that the engine applied them: some engines accept an option and
// ignore it.

import { cpus } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import { MiB } from '@platform/contract/sizes';
import { TUN_DEVICE } from '../../network/tun-device.ts';
import { temporaryBytes } from '../process/mechanism.ts';
import { insideContainer } from './base-image.ts';
import type { Container, ContainerCreateOptions } from './engine.ts';
import { seccompProfile } from './seccomp-profile.ts';
import { UNSHARED } from './tunnel/enter-program.ts';

export interface Resources {
  readonly memoryMiB: number;
  readonly cpus: number;
  readonly pids: number;
}

export interface Confinement {
  readonly image: string;
  /** The program and its arguments; undefined leaves them to the image. */
  readonly command?: readonly string[];
  readonly directory?: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  /** A number: names would be looked up in the image. */
  readonly uid: number;
  readonly resources: Resources;
  readonly mounts: readonly { readonly source: string; readonly target: string; readonly access: 'read' | 'write' }[];
  readonly network: string;
  readonly address: string;
  /** Device of a workload with a tunnel, which makes a network of its own. Default: it has none, and makes none. */
  readonly tunnelDevice?: string;
}

const SHARED_MEMORY_BYTES = 16 * MiB;
const OPEN_FILES = 4_096;
/** For the engine's own resolver, which carries questions out even of an internal network. Nothing listens there. */
const NO_NAME_SERVER = '127.0.0.1';
/** What a workload says is kept by the Runtime; the engine keeps as much as a slow reader may lag behind. */
const LOG = { Type: 'local', Config: { 'max-size': '1m', 'max-file': '2', compress: 'false' } };

export function containerOptions(confinement: Confinement): ContainerCreateOptions {
  return {
    Image: confinement.image,
    ...(confinement.command === undefined ? {} : { Entrypoint: [...confinement.command], Cmd: [] }),
    ...(confinement.directory === undefined ? {} : { WorkingDir: confinement.directory }),
    Hostname: 'workload',
    User: `${confinement.uid}:${confinement.uid}`,
    // A name without a value takes away what the engine would add by itself.
    Env: ['HOSTNAME', ...Object.entries(confinement.environment).map(([name, value]) => `${name}=${value}`)],
    Labels: { ...confinement.labels },
    StopSignal: 'SIGTERM',
    // The image's own check would run programs in the container at times of its choosing.
    Healthcheck: { Test: ['NONE'] },
    HostConfig: hostOptions(confinement),
    NetworkingConfig: {
      EndpointsConfig: { [confinement.network]: { IPAMConfig: { IPv4Address: confinement.address } } },
    },
  };
}

/** With a member that the types of the client do not know yet. */
type HostOptions = NonNullable<ContainerCreateOptions['HostConfig']> & { CgroupnsMode?: 'private' };

function hostOptions({ network, resources, mounts, tunnelDevice }: Confinement): HostOptions {
  const profile = seccompProfile(tunnelDevice === undefined ? {} : { unshared: UNSHARED });
  const memory = resources.memoryMiB * MiB;
  return {
    NetworkMode: network,
    Init: true,
    Privileged: false,
    ReadonlyRootfs: true,
    CapDrop: ['ALL'],
    CapAdd: [],
    Devices:
      tunnelDevice === undefined
        ? []
        : [{ PathOnHost: tunnelDevice, PathInContainer: TUN_DEVICE, CgroupPermissions: 'rw' }],
    SecurityOpt: ['no-new-privileges', ...(profile === undefined ? [] : [`seccomp=${profile}`])],
    IpcMode: 'private',
    CgroupnsMode: 'private',
    PidMode: '',
    UTSMode: '',
    UsernsMode: '',
    Memory: memory,
    MemorySwap: memory,
    // The engine refuses more than the machine has.
    NanoCpus: Math.round(Math.min(resources.cpus, cpus().length) * 1e9),
    PidsLimit: resources.pids,
    ShmSize: SHARED_MEMORY_BYTES,
    Mounts: [
      ...mounts.map(({ source, target, access }) => ({
        Type: 'bind' as const,
        Source: source,
        Target: target,
        ...(access === 'read' ? { ReadOnly: true } : {}),
        BindOptions: { Propagation: 'rprivate' as const },
      })),
      temporaryMount(resources.memoryMiB),
    ],
    Ulimits: [
      { Name: 'core', Soft: 0, Hard: 0 },
      { Name: 'nofile', Soft: OPEN_FILES, Hard: OPEN_FILES },
    ],
    Dns: [NO_NAME_SERVER],
    ExtraHosts: [],
    PublishAllPorts: false,
    PortBindings: {},
    RestartPolicy: { Name: 'no', MaximumRetryCount: 0 },
    AutoRemove: false,
    LogConfig: LOG,
  };
}

/**
 * A `tmpfs` of the container would get the permissions that the folder has in the image, whatever is asked for (runc). A volume
 * without a name has its own, and ends with the container.
 */
function temporaryMount(memoryMiB: number) {
  const o = `size=${temporaryBytes(memoryMiB)},mode=1777,nosuid,nodev`;
  return {
    Type: 'volume' as const,
    Source: '',
    Target: insideContainer.temporary,
    VolumeOptions: {
      NoCopy: true,
      Labels: {},
      DriverConfig: { Name: 'local', Options: { type: 'tmpfs', device: 'tmpfs', o } },
    },
  };
}

/** Options that a wall hangs on. */
const WALLS = [
  ...['NetworkMode', 'Init', 'Privileged', 'ReadonlyRootfs', 'CapDrop', 'CapAdd', 'Devices', 'SecurityOpt'],
  ...['IpcMode', 'CgroupnsMode', 'PidMode', 'UTSMode', 'UsernsMode', 'Memory', 'MemorySwap', 'NanoCpus', 'PidsLimit'],
  ...['Mounts', 'Ulimits', 'Dns', 'ExtraHosts', 'PublishAllPorts', 'PortBindings', 'RestartPolicy'],
] as const;

/** The names of the options that the engine did not take as they were given. */
export async function lostOptions(container: Container, requested: ContainerCreateOptions): Promise<string[]> {
  const { HostConfig, Config, NetworkSettings } = await container.inspect();
  const wanted: Readonly<Record<string, unknown>> = { ...requested.HostConfig };
  const taken: Readonly<Record<string, unknown>> = { ...HostConfig };
  const lost = WALLS.filter((name) => !sameOption(wanted[name], taken[name])).map(String);
  if (Config.User !== requested.User) lost.push('User');
  const networks = Object.keys(NetworkSettings.Networks);
  if (!isDeepStrictEqual(networks, Object.keys(requested.NetworkingConfig?.EndpointsConfig ?? {})))
    lost.push('Networks');
  return lost;
}

/** Engines leave out what says nothing, and write an empty list as nothing. */
function sameOption(wanted: unknown, taken: unknown): boolean {
  return isDeepStrictEqual(said(wanted), said(taken));
}

/** Without members that say nothing; `undefined` for what says nothing itself. */
function said(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(said);
  if (typeof value !== 'object' || value === null) return value === '' || value === null ? undefined : value;
  const members = Object.entries(value).flatMap(([name, member]) => {
    const kept = said(member);
    return kept === undefined ? [] : [[name, kept]];
  });
  return members.length === 0 ? undefined : Object.fromEntries(members);
}
