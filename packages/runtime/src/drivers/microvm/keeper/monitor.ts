// The interface of a virtual machine monitor for the keeper: start, console output, and exit.
import type { ChildProcess } from 'node:child_process';

export interface Monitor {
  readonly ended: Promise<void>;
  /** The end of what the guest's kernel and init wrote to the console. */
  console(): string;
  kill(): void;
}

const LARGEST_CONSOLE = 4_096;

/** A monitor that is a child process and writes the console to its standard output. */
export function watch(child: ChildProcess): Monitor {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      text = (text + chunk.toString('latin1')).slice(-LARGEST_CONSOLE);
    });
  }
  const ended = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      text += error.message;
      resolve();
    });
    // After its output has ended too, so that the console's last output is there.
    child.once('close', () => resolve());
  });
  return { ended, console: () => text, kill: () => child.kill('SIGKILL') };
}
