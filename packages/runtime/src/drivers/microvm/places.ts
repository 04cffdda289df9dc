// Addresses, ports and paths of a virtual machine that its three sides agree on: the driver, the keeper beside the
// machine, and the guest. guest/init.sh repeats the addresses and the ports.
import type { GatewayUrls } from '../driver.ts';
import type { Entry } from '../require-entry.ts';

/** Every machine has a network of its own, so all of them may use the same addresses. */
export const addresses = { host: '10.181.0.1', guest: '10.181.0.2', prefix: 30 } as const;

/** On the host's address. The first four take one connection each, before the workload runs, and are closed then. */
export const keeperPorts = { control: 7000, stdout: 7001, stderr: 7002, order: 7003 } as const;
/**
 * On the guest's address: the first port leads to the workload's PORT, the second says when PORT accepts. The second
 * pair is taken when the workload's own PORT is in the first.
 */
export const bridgePorts = [
  { bridge: 7073, question: 7074 },
  { bridge: 7075, question: 7076 },
] as const;

export type BridgePorts = (typeof bridgePorts)[number];

export function bridgePortsFor(port: number): BridgePorts {
  const [usual, other] = bridgePorts;
  return port === usual.bridge || port === usual.question ? other : usual;
}

export const tapDevice = 'tap0';
export const guestMac = '02:00:0a:b5:00:02';

/** Paths in the enclosure in which a machine's monitor runs. */
export const enclosed = {
  node: '/opt/platform/bin/node',
  keeper: '/opt/platform/keeper',
  filter: '/opt/platform/filter.bpf',
  init: '/opt/platform/init.sh',
  firecracker: '/opt/platform/bin/firecracker',
  kernel: '/vm/kernel',
  initramfs: '/vm/initramfs',
  base: '/vm/base',
  app: '/vm/app',
  volume: '/vm/volume',
  temporary: '/tmp',
} as const;

/** Paths in the guest. */
export const inGuest = { volume: '/volume', temporary: '/tmp' } as const;

/** The driver's first message of the handshake with the keeper. */
export interface KeeperOrder {
  readonly port: number;
  readonly gatewayPort: number;
  /** `null`: it has no object storage. */
  readonly storagePort: number | null;
  readonly environment: Readonly<Record<string, string>>;
  readonly gatewayUrls: GatewayUrls;
  readonly storageUrls: GatewayUrls;
  readonly machine: Machine;
  readonly guest: GuestLimits;
}

export interface Machine {
  readonly monitor: 'qemu' | 'firecracker';
  /** Path of the monitor's program. */
  readonly program: string;
  readonly acceleration: 'kvm' | 'tcg';
  readonly processors: number;
  readonly memoryMiB: number;
  /** Added to the kernel's command line. */
  readonly kernelArguments: readonly string[];
  readonly volume: boolean;
}

/** What init enforces in the guest, by its kernel's control groups. */
export interface GuestLimits {
  readonly entry: Entry;
  readonly memoryBytes: number;
  readonly pids: number;
  readonly nodeOptions: readonly string[];
  readonly temporaryBytes: number;
}

/** What a keeper says on its report descriptor, one JSON text a line. */
export type KeeperReport =
  | { readonly kind: 'ports'; readonly ports: readonly number[] }
  | { readonly kind: 'memory'; readonly kills: number }
  /** The machine ended without the guest having said why; `console` is the end of what it wrote there. */
  | { readonly kind: 'lost'; readonly console: string };
