// One attempt to run a workload, from its launch to its end. The installation turns its outcome into a state.
import { once } from 'node:events';
import { CoreError } from '@platform/link';
import type { Clock } from '../clock.ts';
import { DiskFullError } from '../disk-watch.ts';
import { LaunchError, StartRefused } from '../drivers/driver.ts';
import type { Workload } from './workload.ts';

export type Outcome =
  /** Whether it had listened before or not. */
  | { readonly kind: 'ended'; readonly code: number | null; readonly reason: string }
  | { readonly kind: 'never listened'; readonly reason: string }
  /** No further attempt can succeed. */
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'not launched'; readonly reason: string; readonly detail: string }
  /** Core or the package was not there: no fault of the workload or of what runs it. */
  | { readonly kind: 'not prepared'; readonly reason: string; readonly detail: string }
  /** Given up on purpose before there was anything to end. */
  | { readonly kind: 'given up' };

export interface AttemptOptions {
  readonly clock: Clock;
  /** The port it has to listen on. */
  readonly port: number;
  readonly launch: () => Promise<Workload>;
  readonly onLaunched: (workload: Workload) => void;
  readonly onListening: (workload: Workload) => void;
  /** It listens, but not where it must: said once, in a sentence, while it may still come to that. */
  readonly onElsewhere: (sentence: string) => void;
  /** Gives the attempt up; whatever runs by then is ended. */
  readonly abort: AbortSignal;
}

/** A workload that does not listen by then is ended. */
const LISTEN_LIMIT = 60_000;

/** How often it is looked at which ports it listens on, and how often in a row the right one is missing until that is said. */
const LOOK_MILLISECONDS = 1_000;
const LOOKS = 3;

/** Resolves when nothing of the attempt runs any more. Never rejects. */
export async function attempt(options: AttemptOptions): Promise<Outcome> {
  try {
    const workload = await options.launch();
    options.onLaunched(workload);
    const listened = await awaitListening(workload, options);
    if (listened === 'too late') return await neverListened(workload, options.port);
    if (listened === 'given up') await workload.stop();
    const { code, reason } = await workload.ended;
    return { kind: 'ended', code, reason };
  } catch (error) {
    return options.abort.aborted ? { kind: 'given up' } : failureOf(error);
  }
}

async function awaitListening(
  workload: Workload,
  { clock, abort, port, onListening, onElsewhere }: AttemptOptions,
): Promise<'listens' | 'ended' | 'given up' | 'too late'> {
  const limit = new AbortController();
  const cancel = clock.after(LISTEN_LIMIT, () => limit.abort());
  const over = AbortSignal.any([abort, limit.signal]);
  const watch = watchPorts(workload, { clock, port, onElsewhere });
  const listening = await workload.listening(over);
  // A hostile workload can break the question off and live on; its time still runs out.
  if (!listening && !over.aborted) await Promise.race([workload.ended, once(over, 'abort')]);
  cancel();
  watch.end();
  if (abort.aborted) return 'given up';
  if (listening) onListening(workload);
  else if (limit.signal.aborted) return 'too late';
  return listening ? 'listens' : 'ended';
}

/** An author who has set another port learns it at once, and not when the time of the start is over. */
function watchPorts(
  workload: Workload,
  { clock, port, onElsewhere }: Pick<AttemptOptions, 'clock' | 'port' | 'onElsewhere'>,
): { end(): void } {
  let looks = 0;
  let cancel = clock.after(LOOK_MILLISECONDS, look);
  function look(): void {
    const ports = workload.ports();
    looks = ports.length > 0 && !ports.includes(port) ? looks + 1 : 0;
    if (looks === LOOKS)
      onElsewhere(
        `It listens on ${portsText(ports)}, and not on port ${port}, which is in its environment variable PORT.`,
      );
    if (looks < LOOKS) cancel = clock.after(LOOK_MILLISECONDS, look);
  }
  return { end: () => cancel() };
}

function portsText(ports: readonly number[]): string {
  return `${ports.length === 1 ? 'port' : 'ports'} ${ports.join(', ')}`;
}

async function neverListened(workload: Workload, port: number): Promise<Outcome> {
  const ports = workload.ports();
  const instead = ports.length === 0 ? '' : ` It listens on ${ports.join(', ')} instead.`;
  await workload.stop();
  const reason = `It did not listen on port ${port} within ${LISTEN_LIMIT / 1_000} s.${instead}`;
  return { kind: 'never listened', reason };
}

function failureOf(error: unknown): Outcome {
  if (error instanceof StartRefused) return { kind: 'refused', reason: error.message };
  if (error instanceof LaunchError) return { kind: 'not launched', reason: error.message, detail: error.detail };
  if (error instanceof DiskFullError) return { kind: 'not prepared', reason: error.message, detail: String(error) };
  // Core says why it cannot give what the start needs.
  const said = error instanceof CoreError && error.code === 'unavailable' ? error.detail : undefined;
  return { kind: 'not prepared', reason: said ?? 'The platform could not prepare the start.', detail: String(error) };
}
