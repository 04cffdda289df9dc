// The second machine of a story about two: the command line in a network namespace of its own, and what the story asks of
// the machine that runs core.
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { PlatformPlace } from '../support/platform-process.ts';

const CLI = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url));
const LONGEST_WAIT = 150_000;

const started = performance.now();
/** A line that the test outside shows. */
export function tell(what: string): void {
  process.stdout.write(`STORY ${((performance.now() - started) / 1000).toFixed(1)} s: ${what}\n`);
}

export async function command(place: PlatformPlace, args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [CLI, ...args], { env: place.environment });
  return stdout;
}

export class SecondMachine {
  readonly #network: string;
  readonly #environment: NodeJS.ProcessEnv;
  #process: ChildProcess | undefined;
  /** Everything it wrote, over all its starts. */
  output = '';

  /** @param network file of its namespace */
  constructor(network: string, environment: NodeJS.ProcessEnv) {
    this.#network = network;
    this.#environment = environment;
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

export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const limit = performance.now() + LONGEST_WAIT;
  while (!(await holds())) {
    if (performance.now() > limit) throw new Error(`gave up waiting: ${what}`);
    await delay(100);
  }
}
