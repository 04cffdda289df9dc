// A Node program as a child process that a test talks to in lines of JSON and can kill.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export interface Child {
  readonly pid: number;
  /** How it ended. */
  readonly exited: Promise<string>;
  /** Writes one line; to a child that has ended, nothing. */
  send(value: unknown): void;
  /** SIGKILL. Resolves when it has ended. */
  kill(): Promise<void>;
}

/** The child ends when its standard input does, so with this process at the latest. */
export function startChild(
  main: string,
  { environment = {}, onLine }: { readonly environment?: NodeJS.ProcessEnv; readonly onLine: (line: string) => void },
): Child {
  const child = spawn(process.execPath, [main], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...environment },
  });
  child.stdin.on('error', () => undefined);
  createInterface({ input: child.stdout }).on('line', onLine);
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(String(code ?? signal)));
  });
  return {
    pid: child.pid ?? 0,
    exited,
    send: (value) => void child.stdin.write(`${JSON.stringify(value)}\n`),
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
