// Confines a virtual machine monitor in case a guest compromises it: its own user and network, no capabilities, a
// system call filter, and a root with the system's programs and the machine's own images.

import { chmodSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MiB } from '@platform/contract/sizes';
import { writeFileAtomically } from '../../atomic-file.ts';
import { systemPath } from '../../find-program.ts';
import type { Cgroup } from '../process/cgroup.ts';
import type { SandboxHost } from '../process/launch.ts';
import { type Mount, systemMounts } from '../process/layout.ts';
import { boundResources, type CommandLine, enter, filterLoader } from '../process/mechanism.ts';
import { unshareArguments } from '../process/unshare.ts';
import { addresses, enclosed, tapDevice } from './places.ts';

export interface Enclosure {
  readonly uid: number;
  /** Folder of the keeper's sources, from `prepareKeeper`. */
  readonly keeper: string;
  readonly kernel: string;
  readonly initramfs: string;
  readonly base: string;
  readonly app: string;
  readonly volume: string | undefined;
  /** Its resolv.conf, which the Runtime may change while it runs. */
  readonly resolver: string;
  /** nft, where this machine has it: without it there is no way to the internet either. */
  readonly nft: string | undefined;
  /** The one program that is not the system's own. */
  readonly firecracker: string | undefined;
  readonly kvm: boolean;
}

const TEMPORARY_BYTES = 16 * MiB;
const KEEPER_HEAP_MIB = 64;

/** The keeper's sources where every user can read them. */
export function prepareKeeper(directory: string): string {
  const sources = [
    'places.ts',
    ...['main', 'report', 'monitor', 'guest-channel', 'inbound', 'qemu', 'firecracker', 'firecracker-api'].map(
      (name) => `keeper/${name}.ts`,
    ),
  ];
  for (const folder of [directory, join(directory, 'keeper')]) {
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o755);
  }
  writeFileAtomically(join(directory, 'package.json'), Buffer.from('{"type":"module"}'), 0o644);
  for (const source of sources) {
    writeFileAtomically(join(directory, source), readFileSync(new URL(source, import.meta.url)), 0o644);
  }
  return directory;
}

export function enclosureLine(host: SandboxHost, enclosure: Enclosure, cgroup: Cgroup): CommandLine {
  const [program = '/bin/sh', ...rest] = [
    ...enter(cgroup),
    ...boundResources(host.tools),
    ...unshareArguments({
      mounts: mounts(host, enclosure),
      stage: host.files.stage,
      prepare: [...devices(host.files.stage, enclosure), ...network(enclosure)],
      privilege: { kind: 'root', uid: enclosure.uid },
      filterLoader: filterLoader(host),
      command: [
        enclosed.node,
        `--max-old-space-size=${KEEPER_HEAP_MIB}`,
        '--disable-warning=ExperimentalWarning',
        `${enclosed.keeper}/keeper/main.ts`,
      ],
    }),
  ];
  return { program, arguments: rest, environment: { PATH: systemPath, LANG: 'C.UTF-8' }, needsFilter: false };
}

function mounts({ files }: SandboxHost, enclosure: Enclosure): Mount[] {
  const file = (source: string, target: string): Mount => ({ kind: 'read-only', source, target, file: true });
  return [
    ...systemMounts(files.etc),
    file(enclosure.resolver, '/etc/resolv.conf'),
    { kind: 'folder', target: '/opt/platform/bin' },
    { kind: 'folder', target: '/vm' },
    { kind: 'folder', target: '/run' },
    { kind: 'folder', target: '/dev' },
    file(files.node, enclosed.node),
    file(files.init, enclosed.init),
    ...(files.filter === undefined ? [] : [file(files.filter, enclosed.filter)]),
    { kind: 'read-only', source: enclosure.keeper, target: enclosed.keeper },
    file(enclosure.kernel, enclosed.kernel),
    file(enclosure.initramfs, enclosed.initramfs),
    file(enclosure.base, enclosed.base),
    file(enclosure.app, enclosed.app),
    ...(enclosure.volume === undefined
      ? []
      : [{ kind: 'read-write', source: enclosure.volume, target: enclosed.volume, file: true } satisfies Mount]),
    ...(enclosure.firecracker === undefined ? [] : [file(enclosure.firecracker, enclosed.firecracker)]),
    { kind: 'tmpfs', target: enclosed.temporary, bytes: TEMPORARY_BYTES, mode: '1777' },
    { kind: 'proc', target: '/proc' },
  ];
}

/** Device nodes of its own, as Firecracker's jailer makes them: the host's belong to root, and stay that way. */
function devices(stage: string, { uid, kvm }: Enclosure): string[] {
  const folder = `'${stage}/dev'`;
  const node = (name: string, mode: string, major: number, minor: number) =>
    `mknod -m ${mode} ${folder}/${name} c ${major} ${minor}`;
  return [
    `mount -n -t tmpfs -o mode=0755,size=64k,nosuid,noexec tmpfs ${folder}`,
    node('null', '666', 1, 3),
    node('zero', '666', 1, 5),
    node('full', '666', 1, 7),
    node('random', '666', 1, 8),
    node('urandom', '666', 1, 9),
    `mkdir ${folder}/net`,
    node('net/tun', '600', 10, 200),
    ...(kvm ? [node('kvm', '600', 10, 232)] : []),
    `chown ${uid}:${uid} ${folder}/net/tun${kvm ? ` ${folder}/kvm` : ''}`,
    `mount -n -o remount,ro,nosuid,noexec ${folder}`,
  ];
}

/**
 * In the new network namespace: one device that leads to the guest, and nothing that leads anywhere else. Should the
 * owner grant the internet, network/ adds an interface to it and takes it away again: what the guest sends is passed on
 * under the name of that interface, and judged outside, where nothing in here reaches.
 */
function network({ uid, nft }: Enclosure): string[] {
  const commands = [
    `tuntap add dev ${tapDevice} mode tap user ${uid}`,
    `addr add ${addresses.host}/${addresses.prefix} dev ${tapDevice}`,
    `link set ${tapDevice} up`,
  ];
  return [
    'for setting in /proc/sys/net/ipv6/conf/*/disable_ipv6; do [ ! -e "$setting" ] || echo 1 > "$setting"; done',
    // What leads nowhere is refused each time: with the usual limit most attempts of a guest would wait in vain, and
    // those of one guest would use up what the kernel allows for the whole host.
    'echo 0 > /proc/sys/net/ipv4/icmp_ratemask',
    `printf '%s\\n' ${commands.map((command) => `'${command}'`).join(' ')} | ip -batch -`,
    ...(nft === undefined
      ? []
      : ['echo 1 > /proc/sys/net/ipv4/ip_forward', `printf '%s' '${passOnRules}' | '${nft}' -f -`]),
  ];
}

const passOnRules = `
table ip machine {
  chain forward {
    type filter hook forward priority 0; policy drop;
    iifname "${tapDevice}" ip saddr ${addresses.guest} oifname != "${tapDevice}" accept
    oifname "${tapDevice}" ip daddr ${addresses.guest} ct direction reply ct state established,related accept
  }
  chain leave {
    type nat hook postrouting priority 100; policy accept;
    ip saddr ${addresses.guest} oifname != "${tapDevice}" masquerade
  }
}
`;
