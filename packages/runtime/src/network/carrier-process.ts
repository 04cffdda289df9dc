// One running carrier: begun until it carries, and ended until nothing of it is left.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { systemPath } from '../find-program.ts';
import type { Carrier } from './carriers.ts';
import type { Launcher } from './egress.ts';
import { tap } from './inner-ruleset.ts';

export interface CarrierTools {
  readonly nsenter: string;
  readonly setpriv: string;
  readonly prlimit: string | undefined;
}

export interface CarrierProcess {
  readonly pid: number;
  /** Resolves with the last of what it said, when it has ended for whatever reason. */
  readonly ended: Promise<string>;
  /** Resolves when it has ended, and with it everything that went through it. */
  kill(): Promise<void>;
}

const READY_LIMIT = 10_000;
const LOOK_EVERY = 5;
/** Connections that one workload can have at the same time are fewer. */
const OPEN_FILES = 4_096;
const MOST_SAID = 2_000;

/** @throws Error with what it said when it does not come to carry */
export async function startCarrier(
  carrier: Carrier,
  tools: CarrierTools,
  launcher: Pick<Launcher, 'pid'>,
): Promise<CarrierProcess> {
  const limits = tools.prlimit === undefined ? [] : [tools.prlimit, '--core=0', `--nofile=${OPEN_FILES}`, '--'];
  const command = [...limits, ...carrier.command(tools.nsenter, launcher)];
  // It ends with the Runtime, however that ends.
  const child = spawn(tools.setpriv, ['--pdeathsig', 'KILL', '--', ...command], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: systemPath, LC_ALL: 'C' },
    cwd: '/',
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString('utf8')).slice(-MOST_SAID);
  });
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => resolve(`${code ?? signal}: ${said.trim()}`));
  });
  const running: CarrierProcess = { pid: child.pid ?? 0, ended, kill: () => end(child) };
  const begun = performance.now();
  while (!hasWayOut(launcher)) {
    const over = performance.now() - begun > READY_LIMIT ? 'it did not get ready in time' : undefined;
    const outcome = over ?? (await Promise.race([ended, delay(LOOK_EVERY, undefined)]));
    if (outcome === undefined) continue;
    await running.kill();
    throw new Error(`${carrier.name}: ${outcome} ${said.trim()}`.trim());
  }
  return running;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

/** Whether the network has a default route, which is the last that a carrier makes. */
function hasWayOut(launcher: Pick<Launcher, 'pid'>): boolean {
  return networkFile(launcher, 'route').includes(`${tap}\t00000000\t`);
}

/** Whether the device is there through which alone anything gets out. */
export function hasDevice(launcher: Pick<Launcher, 'pid'>): boolean {
  return networkFile(launcher, 'dev').includes(` ${tap}:`);
}

/** Empty when the process is gone, and its network with it. */
function networkFile({ pid }: Pick<Launcher, 'pid'>, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/net/${name}`, 'latin1');
  } catch {
    return ''; // it has ended
  }
}
