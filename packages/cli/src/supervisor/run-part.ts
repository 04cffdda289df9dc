// The part's side of the channel: starts what the supervisor ordered, answers it, and ends when it says so. A part ends
// with its supervisor in any case: the kernel kills it then, and the broken channel does where the kernel cannot.
import { flushCompileCache } from 'node:module';
import { createLog } from '@platform/core/log';
import { errorInWords, StartError } from '@platform/core/start';
import { type BoundSocket, receiveSocket } from '@platform/http';
import { portTaken, Started } from '../process/running.ts';
import { outliveReader } from '../terminal/terminal.ts';
import type { FromPart, ToPart } from './channel.ts';
import { collectWhenIdle } from './idle-collection.ts';
import { releaseStartMemory } from './release-start-memory.ts';

/** After the stop of a part, for its process to end by itself. */
const LEAKED_HANDLES_MS = 500;

export interface Serving<Report> {
  readonly report: Report;
  /** In the format of Prometheus. Default: there are none. */
  readonly metrics?: (() => Promise<string>) | undefined;
  /** Reads again what may change while it runs, and logs what came of it. Default: there is nothing. */
  readonly reload?: () => Promise<void>;
}

/** @param start resolves when the part serves; `started` gets what ends it again, in the reverse order */
export function runPart<Order, Report>(start: (order: Order, started: Started) => Promise<Serving<Report>>): void {
  outliveReader();
  const started = new Started();
  let serving: Promise<Serving<Report> | null> = Promise.resolve(null);

  // A terminal and a service manager send these to every process at once. The supervisor alone acts on them: it ends
  // the parts in their order.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  // Node itself would print the error with everything that hangs on it.
  process.on('uncaughtException', (error) => {
    createLog('error').error({ err: error }, 'nothing handled an error; the part ends and is started again');
    process.exit(1);
  });
  const orphaned = () => process.exit(1);
  process.once('disconnect', orphaned);
  process.on('message', (message: ToPart<Order>, socket: unknown) => {
    if ('socket' in message) receiveSocket(message.socket, socket as BoundSocket);
    else if ('order' in message) serving = begin(message.order);
    else if ('ask' in message) void answer(message.ask);
    else if ('ping' in message) report({ alive: true });
    else if ('reload' in message) void reload();
    else void end();
  });

  async function begin(order: Order): Promise<Serving<Report> | null> {
    try {
      const now = await start(order, started);
      collectWhenIdle();
      report({ ready: now.report });
      // A part that is killed would leave nothing of it to its next start.
      flushCompileCache();
      releaseStartMemory();
      return now;
    } catch (thrown) {
      const error = portTaken(thrown) ?? thrown;
      if (!(error instanceof StartError)) createLog('error').error({ err: error }, 'a part could not start');
      const code = error instanceof StartError ? error.code : 'part_failed';
      report(
        { refused: { code, message: error instanceof StartError ? error.message : errorInWords(error) } },
        orphaned,
      );
      return null;
    }
  }

  async function answer(ask: number): Promise<void> {
    const text = await (await serving)?.metrics?.().catch(() => '');
    report({ ask, metrics: text ?? '' });
  }

  async function reload(): Promise<void> {
    await (await serving)?.reload?.();
  }

  async function end(): Promise<void> {
    process.off('disconnect', orphaned);
    await serving;
    await started.stop();
    process.disconnect?.();
    // Everything has been stopped. A handle that still waits, for a container engine that hangs, holds nothing up.
    setTimeout(() => process.exit(), LEAKED_HANDLES_MS).unref();
  }

  function report(message: FromPart<Report>, sent: () => void = () => undefined): void {
    process.send?.(message, undefined, undefined, sent);
  }
}
