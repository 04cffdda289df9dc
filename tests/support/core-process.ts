// A replica of core in a process of its own, on the database of a constellation: what one process would share by
// accident it cannot, and it can be killed.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import * as path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { CoreConfig, CoreOptions, Point, Rates } from '@platform/core';
import type { Constellation } from './constellation.ts';
import { freePort } from './free-port.ts';
import type { HeldMoment } from './held-moments.ts';

const MAIN = fileURLToPath(new URL('./core-process-main.ts', import.meta.url));

/** The order that the process reads from its standard input. */
export interface CoreProcessOrder {
  readonly config: CoreConfig;
  readonly databaseUrl: string;
  /** Base64url. */
  readonly masterKey: string;
  readonly systemPackages: readonly { readonly path: string }[];
  /** Kinds that are not named are unlimited in effect. */
  readonly rates: Partial<Rates>;
  readonly push: PushSettings;
  readonly schedules: NonNullable<CoreOptions['schedules']>;
  readonly dieAt: Point | null;
  readonly quiet: boolean;
}

/** How web push connects and retries, without what cannot be serialised for another process. */
export type PushSettings = Omit<NonNullable<CoreOptions['push']>, 'resolve'>;

export interface CoreProcess {
  readonly port: number;
  readonly origin: string;
  readonly pid: number;
  /** Whether it has ended, for whatever reason. */
  readonly dead: boolean;
  stop(): Promise<void>;
  kill(): Promise<void>;
  /** Holds the next caller that reaches this moment; later ones pass. */
  hold(point: Point): HeldMoment;
  /** At `holdAt`. */
  readonly held: HeldMoment | null;
}

export interface CoreProcessOptions {
  readonly rates?: Partial<Rates>;
  /** Default: a free one. */
  readonly port?: number;
  /** Over the configuration of the constellation. */
  readonly config?: Partial<CoreConfig>;
  readonly push?: PushSettings;
  readonly schedules?: CoreOptions['schedules'];
  /** It kills itself when it comes to this moment. */
  readonly dieAt?: Point;
  /** As `hold` of the process, from its start. */
  readonly holdAt?: Point;
  /** The errors that it logs are expected, and not shown. */
  readonly quiet?: true;
}

/** Resolves when it listens; it ends with this process at the latest. */
export async function startCoreProcess(world: Constellation, options: CoreProcessOptions = {}): Promise<CoreProcess> {
  const { config, masterKey } = world.core.context;
  const port = options.port ?? (await freePort());
  const origin = `http://shell.platform.localhost:${port}`;
  const files = (await readdir(world.directory)).filter((file) => file.endsWith('.tgz'));
  const order: CoreProcessOrder = {
    config: { ...config, ...options.config, origin, listenPort: port },
    databaseUrl: world.databaseUrl,
    masterKey: masterKey.toString('base64url'),
    systemPackages: files.map((file) => ({ path: path.join(world.directory, file) })),
    rates: options.rates ?? {},
    push: options.push ?? {},
    schedules: options.schedules ?? {},
    dieAt: options.dieAt ?? null,
    quiet: options.quiet ?? false,
  };
  const child = spawn(process.execPath, [MAIN], { stdio: ['pipe', 'pipe', 'inherit'] });
  // Of a process that was killed.
  child.stdin.on('error', () => undefined);
  // Its standard input stays open: when this process ends, the child reads the end and exits.
  child.stdin.write(`${JSON.stringify(order)}\n`);
  const waiting = new Map<string, () => void>();
  function hold(point: Point): HeldMoment {
    const reached = new Promise<void>((resolve) => waiting.set(`reached ${point}`, resolve));
    child.stdin.write(`hold ${point}\n`);
    return { reached, release: () => void child.stdin.write(`release ${point}\n`) };
  }
  const held = options.holdAt === undefined ? null : hold(options.holdAt);
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line === 'listening') resolve();
      waiting.get(line)?.();
    });
    child.once('exit', (code, signal) => reject(new Error(`a replica ended at its start (${code ?? signal})`)));
  });
  return {
    port,
    origin,
    pid: child.pid ?? 0,
    get dead() {
      return hasEnded(child);
    },
    stop: () => end(child, 'SIGTERM'),
    kill: () => end(child, 'SIGKILL'),
    hold,
    held,
  };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (hasEnded(child)) return;
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
