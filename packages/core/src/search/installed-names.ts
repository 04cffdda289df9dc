// Caches the names of an account's installed apps: every search needs them, and they change only with an installation.
// Invalidated by signal; while signals are not received, the cache is not used.
import { LRUCache } from 'lru-cache';
import type { CoreContext } from '../context.ts';
import { listNames, type SummaryRow } from '../installations/face.ts';

/** Installed apps of an account that are looked at. */
const APPS = 1_000;
/** Apps of all accounts that are remembered. */
const REMEMBERED = 20_000;

export class InstalledNames {
  readonly #context: Pick<CoreContext, 'pool' | 'signals'>;
  readonly #names = new LRUCache<string, readonly SummaryRow[]>({
    maxSize: REMEMBERED,
    sizeCalculation: (names) => names.length + 1,
  });
  /** Grows with every forgetting, so that a look-up that began before cannot store what it found. */
  #generation = 0;

  constructor(context: Pick<CoreContext, 'pool' | 'signals'>) {
    this.#context = context;
    context.signals.on('installation-changed', ({ accountKey }) => this.#forget(() => this.#names.delete(accountKey)));
    context.signals.onReset(() => this.#forget(() => this.#names.clear()));
  }

  async of(accountKey: string): Promise<readonly SummaryRow[]> {
    const { pool, signals } = this.#context;
    const known = signals.connected ? this.#names.get(accountKey) : undefined;
    if (known !== undefined) return known;
    const generation = this.#generation;
    const names = await listNames(pool, accountKey, APPS);
    if (signals.connected && generation === this.#generation) this.#names.set(accountKey, names);
    return names;
  }

  #forget(forget: () => void): void {
    this.#generation += 1;
    forget();
  }
}
