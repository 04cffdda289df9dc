// A command of the command line in a process of its own, and everything it says.
import { strict as assert } from 'node:assert';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MAIN = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url));
const LIMIT_MS = 60_000;
/** Runs its arguments on a terminal of their own, to which it passes what it gets. */
const ON_TERMINAL = ['python3', '-c', 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)'];
/** Runs its arguments with one pipe for all that they say, which has the order in which a person reads it. */
const ON_ONE_PIPE = ['/bin/sh', '-c', 'exec "$@" 2>&1', 'sh'];

export interface CommandOptions {
  readonly environment: NodeJS.ProcessEnv;
  /** Default: the checkout. */
  readonly cwd?: string;
  /** Whether a person sits before it, who types with {@link Command.types}. Default: no. */
  readonly terminal?: boolean;
  /** What the arguments go to. Default: the command line itself, by the runtime of this process. */
  readonly program?: readonly string[];
}

/** As a person runs it: on any Node, from any folder. */
export const PLATFORM = [fileURLToPath(new URL('../../platform', import.meta.url))] as const;

export class Command {
  readonly child: ChildProcess;
  #said = '';
  readonly #listeners = new Set<() => void>();

  constructor(args: readonly string[], { environment, cwd = ROOT, terminal = false, program }: CommandOptions) {
    const line = [...(program ?? [process.execPath, MAIN]), ...args];
    const [first = '', ...rest] = [...(terminal ? ON_TERMINAL : ON_ONE_PIPE), ...line];
    const env = { ...environment, NO_COLOR: '1' };
    this.child = spawn(first, rest, { cwd, env, stdio: [terminal ? 'pipe' : 'ignore', 'pipe', 'inherit'] });
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#said += text.replaceAll('\r\n', '\n');
      for (const listener of this.#listeners) listener();
    });
  }

  types(line: string): void {
    this.child.stdin?.write(`${line}\n`);
  }

  /** Waits for a text after what was heard before, and forgets everything up to it. */
  async hears(pattern: RegExp): Promise<string> {
    const [heard = ''] = await this.hearsAll(pattern);
    return heard;
  }

  /** Waits for several texts in any order, such as those of the command and of a log that it follows. */
  async hearsAll(...patterns: readonly RegExp[]): Promise<readonly string[]> {
    const deadline = AbortSignal.timeout(LIMIT_MS);
    for (;;) {
      const found = patterns.map((pattern) => pattern.exec(this.#said)).filter((match) => match !== null);
      if (found.length === patterns.length) {
        this.#said = this.#said.slice(Math.max(...found.map((match) => match.index + match[0].length)));
        return found.map(([text]) => text);
      }
      assert.ok(!deadline.aborted && this.child.exitCode === null, `waited for ${patterns} in:\n${this.#said}`);
      await new Promise<void>((resolve) => {
        const done = () => {
          this.#listeners.delete(done);
          this.child.off('exit', done);
          deadline.removeEventListener('abort', done);
          resolve();
        };
        this.#listeners.add(done);
        this.child.once('exit', done);
        deadline.addEventListener('abort', done);
      });
    }
  }

  async ends(): Promise<{ code: number | null; said: string }> {
    if (this.child.exitCode === null) await once(this.child, 'close');
    return { code: this.child.exitCode, said: this.#said };
  }
}
