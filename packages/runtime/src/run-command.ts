// Runs one program of this machine to its end, with a text for its input and a limit of time.
import { spawn } from 'node:child_process';
import { systemPath } from './find-program.ts';

/** The program failed; `message` holds what it said, for the operator's log only. */
export class CommandError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CommandError';
  }
}

export interface CommandOptions {
  /** Given on its standard input. */
  readonly input?: string;
  /** Milliseconds after which it is killed. Default 10,000. */
  readonly limit?: number;
  /** Exit codes that are no failure. Default: 0. */
  readonly success?: readonly number[];
}

const MOST_SAID = 64 * 1024;

/** Resolves with what it wrote to its standard output. @throws CommandError when it fails or takes too long */
export function run(
  command: readonly string[],
  { input, limit = 10_000, success = [0] }: CommandOptions = {},
): Promise<string> {
  const [program = '', ...rest] = command;
  return new Promise((resolve, reject) => {
    const child = spawn(program, rest, { env: { PATH: systemPath, LC_ALL: 'C' }, stdio: 'pipe' });
    let output = '';
    let complaint = '';
    const timer = setTimeout(() => child.kill('SIGKILL'), limit);
    child.stdout.on('data', (chunk: Buffer) => {
      if (output.length < MOST_SAID) output += chunk.toString('utf8');
    });
    child.stderr.on('data', (chunk: Buffer) => {
      if (complaint.length < MOST_SAID) complaint += chunk.toString('utf8');
    });
    // A program that ends early does not read all of its input; its exit says enough.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    child.once('error', (error) => {
      clearTimeout(timer);
      reject(new CommandError(`${program}: ${error.message}`));
    });
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      if (code !== null && success.includes(code)) resolve(output);
      else reject(new CommandError(`${program} ended with ${code ?? signal}: ${complaint.trim()}`));
    });
  });
}
