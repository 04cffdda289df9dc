// What long-running commands share: starting one part after the other, and ending all of them on a signal.
import net from 'node:net';
import { isatty } from 'node:tty';
import { reasonOf, StartError, systemCode } from '@platform/core/start';
import { complain, say } from '../terminal/terminal.ts';

const STOP_LIMIT_MS = 9_000;

/** What was started, in the order of starting; stopped in the reverse order. */
export class Started {
  readonly #stops: (() => Promise<void> | void)[] = [];

  add(stop: () => Promise<void> | void): void {
    this.#stops.push(stop);
  }

  async stop(): Promise<void> {
    for (const stop of this.#stops.splice(0).reverse()) {
      await Promise.resolve(stop()).catch((error: unknown) => {
        complain(`platform: while stopping: ${reasonOf(error)}`);
      });
    }
  }
}

/**
 * Runs `work`, which resolves when the command has to end, then stops everything, also after a failure.
 *
 * @returns the exit code
 */
export async function runUntilStopped(
  started: Started,
  work: () => Promise<{ readonly why: string; readonly code: number }>,
): Promise<number> {
  try {
    const { why, code } = await work();
    say(`\nStopping (${why}) …`);
    return await stopWithin(started, code);
  } catch (error) {
    await stopWithin(started, 1);
    throw error;
  }
}

/** One Ctrl-C arrives twice, from the terminal and from npm; a person's second one comes later. */
const REPEATED_SIGNAL_MS = 1_000;

/**
 * Resolves with the name of the first signal; a second one ends the process at once.
 *
 * @param reload what SIGHUP does instead, unless the terminal of the process has gone. Default: it ends the process
 */
export function stopSignals(reload?: () => void): Promise<string> {
  const hasTerminal = () => isatty(0) || isatty(1);
  const hadTerminal = hasTerminal();
  return new Promise((resolve) => {
    let asked: number | undefined;
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        if (signal === 'SIGHUP' && reload !== undefined && hasTerminal() === hadTerminal) {
          reload();
          return;
        }
        if (asked !== undefined && performance.now() - asked > REPEATED_SIGNAL_MS) process.exit(130);
        asked ??= performance.now();
        resolve(signal);
      });
    }
  });
}

async function stopWithin(started: Started, code: number): Promise<number> {
  const limit = setTimeout(() => {
    complain('platform: stopping took too long; ending now.');
    process.exit(1);
  }, STOP_LIMIT_MS);
  await started.stop();
  // The timer still ends a process with leaked handles, and does not delay one that can exit.
  limit.unref();
  return code;
}

/** The sentence for a port that somebody took between the check and the use; `undefined` for any other error. */
export function portTaken(error: unknown): StartError | undefined {
  if (systemCode(error) !== 'EADDRINUSE') return undefined;
  const { port, address } = error as { readonly port?: number; readonly address?: string };
  return new StartError(
    'port_taken',
    `Port ${port} on ${address} is used by another program. Stop that program first.`,
  );
}

export async function requireFreePort(variable: string, host: string, port: number): Promise<void> {
  const server = net.createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, exclusive: true }, resolve);
  }).catch((error: unknown) => {
    const what =
      systemCode(error) === 'EADDRINUSE' ? 'is used by another program' : `cannot be used (${reasonOf(error)})`;
    throw new StartError(
      'port_taken',
      `Port ${port} on ${host} ${what}. Stop that program, or set another port in ${variable}.`,
    );
  });
  await new Promise<void>((resolve) => server.close(() => resolve()));
}
