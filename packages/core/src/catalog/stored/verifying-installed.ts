// After each start, verifies the frontends of what is installed, so that damage is repaired or said before somebody opens the
// app. It takes a fifth of the time at most; what is asked for meanwhile does not wait for it.
import { setTimeout as delay } from 'node:timers/promises';
import { RefusalError } from '@platform/contract';
import type { CoreContext } from '../../context.ts';
import type { Worker } from '../../domain.ts';
import { listInstalledFrontends } from './queries.ts';

/** Times as long as the last piece of work took. */
const REST = 4;

export class VerifyingInstalled implements Worker {
  readonly #context: CoreContext;
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(context: CoreContext) {
    this.#context = context;
  }

  start(): void {
    const { log } = this.#context;
    this.#running = this.#run().catch((error: unknown) => {
      if (this.#stopping.signal.aborted) return;
      log.warn({ err: error }, 'frontends are verified when they are first opened: it failed in the background');
    });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    for (const hash of await listInstalledFrontends(this.#context.database)) {
      if (signal.aborted) return;
      const began = performance.now();
      await this.#context.frontends.folder(hash).catch(ignoreRefusal);
      await delay(REST * (performance.now() - began), undefined, { signal, ref: false });
    }
  }
}

/** Who refuses has logged it. */
function ignoreRefusal(error: unknown): void {
  if (!(error instanceof RefusalError)) throw error;
}
