// Follows the topology of core: reads its stream line by line, applies it, confirms what is in effect, and begins again
// where it stopped whenever the stream ends.
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { topologyLine } from '@platform/contract';
import { RemovedError } from '@platform/link';
import type { CoreClient } from './core-client.ts';
import type { Log } from './log.ts';
import type { Topology } from './topology.ts';

export interface FollowOptions {
  readonly core: Pick<CoreClient, 'topology' | 'applied'>;
  readonly topology: Topology;
  readonly log: Log;
  /** Core confirmed that what is known is up to date. */
  heard(): void;
  /** Core does not know this Ingress any more. */
  removed(): void;
  /** Waits before the next attempt. Default: a timer. */
  readonly pause?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

const FIRST_PAUSE = 100;
/** Core may be back at any moment, and a revocation waits for this Ingress for two seconds only. */
const LONGEST_PAUSE = 1_000;
/** Of one line: 1,000 names with all their routes are far below. */
const LONGEST_LINE = 32 * 1024 * 1024;

/** Resolves when `signal` is aborted. */
export async function followTopology(options: FollowOptions, signal: AbortSignal): Promise<void> {
  const { core, topology, log, pause = timer } = options;
  const confirmation = new Confirmation(options, signal);
  let failures = 0;
  let complaint = '';
  while (!signal.aborted) {
    try {
      for await (const line of linesOf(await core.topology(topology.revision, signal))) {
        const revision = line === '' ? undefined : topology.take(topologyLine.parse(JSON.parse(line)));
        if (line === '' || revision !== undefined) options.heard();
        if (revision === undefined) continue;
        if (complaint !== '') log.info({ revision }, 'follows the topology of core again');
        [failures, complaint] = [0, ''];
        confirmation.confirm(revision);
      }
    } catch (error) {
      if (signal.aborted) break;
      if (error instanceof RemovedError) options.removed();
      const reason = error instanceof Error ? error.message : String(error);
      // Once for each reason: core may be away for long.
      if (reason !== complaint) log.warn({ reason }, 'the topology of core cannot be followed; trying again');
      complaint = reason;
    }
    topology.abandonStep();
    failures += 1;
    await pause(Math.min(FIRST_PAUSE * 2 ** (failures - 1), LONGEST_PAUSE), signal);
  }
}

function timer(milliseconds: number, signal: AbortSignal): Promise<void> {
  return delay(milliseconds, undefined, { signal }).catch(() => undefined);
}

/** @throws Error for a line that is too long, and what the stream fails with */
async function* linesOf(stream: Readable): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let parts: string[] = [];
  let length = 0;
  for await (const chunk of stream) {
    const [first = '', ...rest] = decoder.decode(chunk as Buffer, { stream: true }).split('\n');
    parts.push(first);
    length += first.length;
    if (length > LONGEST_LINE) throw new Error('a line of the topology is too long');
    for (const piece of rest) {
      yield parts.join('');
      parts = [piece];
      length = piece.length;
    }
  }
}

/** Says what is in effect, one call at a time: of several revisions only the newest one matters. */
class Confirmation {
  readonly #options: FollowOptions;
  readonly #signal: AbortSignal;
  #wanted: string | null = null;
  #busy = false;

  constructor(options: FollowOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  confirm(revision: string): void {
    this.#wanted = revision;
    if (!this.#busy) void this.#run();
  }

  async #run(): Promise<void> {
    this.#busy = true;
    while (this.#wanted !== null && !this.#signal.aborted) {
      const revision = this.#wanted;
      this.#wanted = null;
      try {
        await this.#options.core.applied(revision, this.#signal);
      } catch (error) {
        // Core answers without it after two seconds, and learns it from the next one.
        this.#options.log.debug({ err: error, revision }, 'a revision of the topology could not be confirmed');
      }
    }
    this.#busy = false;
  }
}
