// What a container with a network tunnel gets from the Runtime: the program in front of its workload, a socket at which
// that program waits, and a device that only the workload's user can open.
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import { findProgram } from '../../../find-program.ts';
import { TUN_DEVICE } from '../../../network/tun-device.ts';
import { run } from '../../../run-command.ts';
import { insideContainer } from '../base-image.ts';
import { enterProgram } from './enter-program.ts';

/** What a container's options name, on this machine. */
export interface TunnelFiles {
  /** Mounted read-only at `insideContainer.tunnelFolder`. */
  readonly folder: string;
  /** Character device; the engine makes one with its number, owner and mode in the container. */
  readonly device: string;
  /** Resolves when the program in front of the workload waits. */
  readonly waiting: Promise<net.Socket>;
  /** Nothing connects any more. */
  close(): void;
}

/** With the packages of Debian that they come from. */
const PROGRAMS = { mknod: 'coreutils', nsenter: 'util-linux', ip: 'iproute2', bridge: 'iproute2' } as const;
const PROGRAM = 'enter';
const SOCKET = 'ready.sock';
/** From the kernel's list of devices, where they never change. */
const TUN_NUMBER = ['10', '200'] as const;
/** Of which 0 means that no ordinary user makes a user namespace; the second exists with Debian's patch only. */
const USER_NAMESPACES = ['user/max_user_namespaces', 'kernel/unprivileged_userns_clone'];

/** What is looked at on this machine. */
export interface TunnelMeans {
  readonly device: string;
  readonly sysctls: string;
  readonly processor: string;
  readonly find: typeof findProgram;
}

const OF_THIS_MACHINE: TunnelMeans = {
  ...{ device: TUN_DEVICE, sysctls: '/proc/sys', processor: process.arch },
  find: findProgram,
};

/** Why containers of this machine can have no tunnel, as the end of a sentence; undefined where they can. */
export function noTunnel(means: Partial<TunnelMeans> = {}): string | undefined {
  const { device, sysctls, processor, find } = { ...OF_THIS_MACHINE, ...means };
  if (!existsSync(device)) return `this machine has no ${device}. Load the kernel module “tun”.`;
  if (program(processor) === undefined) return `it is not supported on ${processor} processors.`;
  const missing = Object.entries(PROGRAMS).find(([name]) => find(name) === undefined);
  if (missing !== undefined) return `${missing[0]} is not installed. Debian: apt-get install ${missing[1]}.`;
  const closed = USER_NAMESPACES.find((name) => isZero(join(sysctls, name)));
  if (closed === undefined) return undefined;
  return `this machine forbids user namespaces. Set the sysctl ${closed.replaceAll('/', '.')} to more than 0.`;
}

function isZero(file: string): boolean {
  return existsSync(file) && Number(readFileSync(file, 'latin1')) === 0;
}

/** @param root Folder of the cell, which is removed with it. */
export async function makeTunnelFiles(root: string, uid: number): Promise<TunnelFiles> {
  const bytes = program();
  if (bytes === undefined) throw new Error('There is no program for this processor.');
  const folder = join(root, 'tunnel');
  const device = join(root, 'tun');
  for (const one of [folder, device]) rmSync(one, { recursive: true, force: true });
  mkdirSync(folder);
  chmodSync(folder, 0o755);
  writeFileSync(join(folder, PROGRAM), bytes);
  chmodSync(join(folder, PROGRAM), 0o555);
  await run([findProgram('mknod') ?? 'mknod', '-m', '600', device, 'c', ...TUN_NUMBER]);
  chownSync(device, uid, uid);
  const server = net.createServer({ pauseOnConnect: true });
  const waiting = new Promise<net.Socket>((resolve, reject) => {
    server.once('connection', resolve);
    server.once('error', reject);
  });
  // Whoever starts the container awaits it; before that, a failure must not be an unhandled rejection.
  waiting.catch(() => undefined);
  const socket = join(folder, SOCKET);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socket, resolve);
  });
  chmodSync(socket, 0o666);
  return { folder, device, waiting, close: () => void server.close() };
}

/** The command line of a workload behind the program; one without a path is looked up by the engine's init process. */
export function throughTunnel(command: readonly string[]): string[] {
  const enter = `${insideContainer.tunnelFolder}/${PROGRAM}`;
  if (command[0]?.includes('/') === true) return [enter, ...command];
  return [enter, insideContainer.init, '-s', '--', ...command];
}

function program(processor?: string): Buffer | undefined {
  return enterProgram({
    socketPath: `${insideContainer.tunnelFolder}/${SOCKET}`,
    lastCapability: Number(readFileSync('/proc/sys/kernel/cap_last_cap', 'latin1')),
    ...(processor === undefined ? {} : { processor }),
  });
}
