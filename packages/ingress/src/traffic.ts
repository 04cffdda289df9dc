// What came to each public name, counted here and reported to core every ten seconds.
import { randomUUID } from 'node:crypto';
import type { IngressReport, PublicTraffic } from '@platform/contract';
import type { CoreClient } from './core-client.ts';
import type { Log } from './log.ts';

const REPORT_MILLISECONDS = 10_000;
/** Of one report. */
const MOST_ITEMS = 1_000;

interface Counts {
  requests: number;
  readonly refused: Record<string, number>;
}

export class Traffic {
  readonly #run = randomUUID();
  #sequence = 0;
  readonly #counts = new Map<string, Counts>();
  /** Reported until core has it, under the same sequence. */
  #unsent: IngressReport | null = null;

  passed(hostname: string): void {
    this.#of(hostname).requests += 1;
  }

  /** Only of known names, so that strangers cannot make this grow. */
  refused(hostname: string, code: string): void {
    const { refused } = this.#of(hostname);
    refused[code] = (refused[code] ?? 0) + 1;
  }

  /** Reports until there is nothing left. @throws what the call throws; what was counted is kept then */
  async report(core: Pick<CoreClient, 'report'>, signal: AbortSignal): Promise<void> {
    for (;;) {
      this.#unsent ??= this.#next();
      if (this.#unsent === null) return;
      await core.report(this.#unsent, signal);
      this.#unsent = null;
    }
  }

  #next(): IngressReport | null {
    const items: PublicTraffic[] = [];
    for (const [hostname, counts] of this.#counts) {
      if (items.length === MOST_ITEMS) break;
      items.push({ hostname, ...counts });
      this.#counts.delete(hostname);
    }
    if (items.length === 0) return null;
    this.#sequence += 1;
    return { run: this.#run, sequence: this.#sequence, items };
  }

  #of(hostname: string): Counts {
    const known = this.#counts.get(hostname);
    if (known !== undefined) return known;
    const counts: Counts = { requests: 0, refused: {} };
    this.#counts.set(hostname, counts);
    return counts;
  }
}

/** Reports every ten seconds. @returns what reports once more and ends it */
export function reportTraffic(traffic: Traffic, core: Pick<CoreClient, 'report'>, log: Log): () => Promise<void> {
  const stopping = new AbortController();
  let last: Promise<void> = Promise.resolve();
  const report = (): Promise<void> =>
    traffic
      .report(core, AbortSignal.any([stopping.signal, AbortSignal.timeout(REPORT_MILLISECONDS)]))
      .catch((error) => {
        log.debug({ err: error }, 'the traffic could not be reported; it is reported with the next one');
      });
  const timer = setInterval(() => {
    last = last.then(report);
  }, REPORT_MILLISECONDS);
  return async () => {
    clearInterval(timer);
    const limit = setTimeout(() => stopping.abort(), 1_000);
    await last.then(report);
    clearTimeout(limit);
  };
}
