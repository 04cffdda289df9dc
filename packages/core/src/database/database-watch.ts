// Notices a PostgreSQL that hangs: one that accepts connections, or did, and answers nothing. One that is gone, that is
// starting or that refuses says so at once, and is no case for this.
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import pg from 'pg';
import { findServer, serverOf } from './servers.ts';

export interface Patience {
  /** Between two probes. */
  readonly everyMs: number;
  /** Within which a probe, a new connection and one statement on it, must be answered. */
  readonly limitMs: number;
  /** Probes in a row without an answer until the database counts as silent. */
  readonly unanswered: number;
}

/** Until core refuses requests at once, which is over with the first answer: 10 to 12 s. */
export const untilRefused: Patience = { everyMs: 2_000, limitMs: 2_000, unanswered: 3 };
/** Until the embedded server is killed and started again: 35 to 40 s, so that a busy machine does not lose its database. */
export const untilRestarted: Patience = { everyMs: 5_000, limitMs: 5_000, unanswered: 4 };

export interface WatchOptions {
  readonly url: string;
  readonly patience: Patience;
  /** Called once for each silence. */
  readonly silent: () => void;
  /** Called when it answers after a silence. */
  readonly answers?: () => void;
  /** Of several servers another one takes writes now: connections to the former are of no use. */
  readonly moved?: () => void;
}

/** Probes are counted, not timed: a process that was stopped for a while, or a machine that slept, has missed one at most. */
export function watchDatabase({ url, patience, silent, answers, moved }: WatchOptions): { stop(): void } {
  const { everyMs, limitMs, unanswered } = patience;
  let missed = 0;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  const plan = () => {
    timer = setTimeout(() => void probe(), everyMs).unref();
  };
  const probe = async () => {
    const [heard, isOther] = await Promise.all([isHeard(serverOf(url), limitMs), findServer(url)]);
    if (stopped) return;
    if (isOther) {
      moved?.();
      if (missed >= unanswered) answers?.();
      missed = 0;
      plan();
      return;
    }
    if (heard) {
      if (missed >= unanswered) answers?.();
      missed = 0;
    } else {
      missed += 1;
      if (missed === unanswered) silent();
    }
    if (!stopped) plan();
  };
  plan();
  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

/** What the network reports in the place of an answer. Every other error is one. */
const NO_ANSWER = ['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'];

async function isHeard(url: string, limitMs: number): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, application_name: 'platform-watch' });
  client.on('error', () => undefined);
  const over = new AbortController();
  const asked = client
    .connect()
    .then(() => client.query('SELECT 1'))
    .then(
      () => true,
      (error: { code?: string }) => !NO_ANSWER.includes(error.code ?? ''),
    );
  const heard = await Promise.race([asked, late(limitMs, over.signal)]);
  over.abort();
  const { stream } = client.connection;
  if (heard && !stream.destroyed) {
    // It may stop answering at this very moment.
    const closing = setTimeout(() => stream.destroy(), limitMs).unref();
    stream.once('close', () => clearTimeout(closing));
    client.end().catch(() => undefined);
  } else stream.destroy();
  return heard;
}

/** An answer that waited in the socket, while this process itself was late, is read before the limit counts. */
async function late(limitMs: number, signal: AbortSignal): Promise<boolean> {
  const timer = AbortSignal.any([signal, AbortSignal.timeout(limitMs)]);
  if (!timer.aborted) await once(timer, 'abort');
  await nextTurn();
  await nextTurn();
  return false;
}
