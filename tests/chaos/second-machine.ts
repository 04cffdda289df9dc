// What stories about two machines share, run inside the network namespace of the first one (two-machines.ts starts them
// there): the platform on the first machine, and a node in the namespace of the second.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestAccount } from '../support/client.ts';
import { emptyPlace, inherited, type PlatformPlace, runCommand, startPlatform } from '../support/platform-process.ts';
import { until as untilWithin } from '../support/wait.ts';

const CLI = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url));
const LONGEST_WAIT = 150_000;

const started = performance.now();
/** A line that the test outside shows. */
export function tell(what: string): void {
  process.stdout.write(`STORY ${((performance.now() - started) / 1000).toFixed(1)} s: ${what}\n`);
}

export const [ownAddress = '', otherNetwork = '', otherAddress = '', routerAddress = ''] = process.argv.slice(2);

export interface TwoMachines {
  readonly place: PlatformPlace;
  readonly machine: SecondMachine;
}

/**
 * Starts the platform on this machine, tells the story, and stops and removes everything. Ends this process with 0, or
 * with what went wrong.
 *
 * @param environment of the platform, and of the second machine
 */
export async function onTwoMachines(
  environment: { readonly first: NodeJS.ProcessEnv; readonly second: NodeJS.ProcessEnv },
  story: (machines: TwoMachines) => Promise<void>,
): Promise<void> {
  const second = await folder('second');
  const place = await emptyPlace({ PLATFORM_LINK_LISTEN: `${ownAddress}:8789`, ...environment.first });
  const machine = new SecondMachine(otherNetwork, second, {
    ...inherited,
    PLATFORM_LISTEN_HOST: otherAddress,
    PLATFORM_NODE_ORIGIN: 'http://second.platform.localhost:8788',
    ...environment.second,
  });
  const platform = await startPlatform(place);
  try {
    await story({ place, machine });
  } catch (error) {
    process.stderr.write(`${platform.output()}\n--- the second machine:\n${machine.output}\n`);
    throw error;
  } finally {
    await machine.kill('SIGKILL');
    await platform.stop();
    await place.remove();
    await rm(second, { recursive: true, force: true });
  }
  process.disconnect?.();
}

/** `platform node …` on this machine. @returns what it says */
export function nodeCommand(place: PlatformPlace, ...args: string[]): Promise<string> {
  return runCommand(['node', ...args], place.environment);
}

/**
 * The second machine joins as `name`, and nothing is placed on the first one any more.
 *
 * @returns the line of `platform node list` about it
 */
export async function joinAlone({ place, machine }: TwoMachines, name: string): Promise<string> {
  await join({ place, machine }, name);
  const list = await nodeCommand(place, 'list');
  const line = new RegExp(`^${name} .*$`, 'm').exec(list)?.[0] ?? assert.fail(list);
  const first = /^(\S+) +ready/m.exec(list.replace(line, ''))?.[1] ?? assert.fail(list);
  await nodeCommand(place, 'cordon', first);
  return line;
}

/** The second machine joins as `name`, with these labels beside that of hosted apps. */
export async function join({ place, machine }: TwoMachines, name: string, ...labels: string[]): Promise<void> {
  const said = await nodeCommand(place, 'token', ...['platform-hosted', ...labels].flatMap((one) => ['--label', one]));
  const token = /pne_\S+/.exec(said)?.[0] ?? assert.fail(said);
  await machine.start(['node', 'join', `https://${ownAddress}:8789`, token, '--name', name]);
}

/** Whether core gets the state of an app from its node. */
export function reaches(account: TestAccount, appId: string): () => Promise<boolean> {
  return async () => {
    const { status, text } = await account.fetch(`/v1/apps/${appId}/status`);
    return status === 200 && (JSON.parse(text) as { state: string }).state === 'running';
  };
}

export class SecondMachine {
  readonly #network: string;
  readonly #environment: NodeJS.ProcessEnv;
  #process: ChildProcess | undefined;
  readonly dataDirectory: string;
  /** Everything it wrote, over all its starts. */
  output = '';

  /** @param network file of its namespace */
  constructor(network: string, dataDirectory: string, environment: NodeJS.ProcessEnv) {
    this.#network = network;
    this.dataDirectory = dataDirectory;
    this.#environment = { ...environment, PLATFORM_DATA_DIR: dataDirectory };
  }

  get exitCode(): number | null {
    return this.#process?.exitCode ?? null;
  }

  async start(args: readonly string[]): Promise<void> {
    const child = spawn('nsenter', [`--net=${this.#network}`, '--', process.execPath, CLI, ...args], {
      env: this.#environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#process = child;
    let own = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        own += chunk.toString('utf8');
        this.output += chunk.toString('utf8');
      });
    await until('the node runs', () => {
      assert.equal(child.exitCode, null, `the node ended: ${own}`);
      return own.includes('Core knows this node.');
    });
  }

  async kill(signal: NodeJS.Signals): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }
}

export async function folder(name: string): Promise<string> {
  const made = await mkdtemp(path.join(tmpdir(), `platform-${name}-`));
  await chmod(made, 0o711);
  return made;
}

/** Asks the test outside, which alone may touch the cable. */
export async function ask(event: 'cut' | 'join'): Promise<void> {
  const done = once(process, 'message');
  process.send?.(event);
  await done;
}

export function until(what: string, holds: () => boolean | Promise<boolean>): Promise<true> {
  return untilWithin(what, holds, LONGEST_WAIT);
}
