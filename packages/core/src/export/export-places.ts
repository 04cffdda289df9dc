// How many exports run at the same time: each reads much of the database and of the disk. Clients that take theirs slowly
// keep nobody else from one.
import { limits, refuse } from '@platform/contract';

const RETRY_SECONDS = 30;
/** A download this old gives its place to another account when it was slower. */
const PROTECTED_MILLISECONDS = 60_000;
const SLOW_BYTES_A_SECOND = 64 * 1024;

export interface Download {
  /** Bytes that left so far. */
  readonly bytes: () => number;
  readonly end: () => void;
}

interface Place {
  download: Download | null;
  readonly since: number;
}

export class ExportPlaces {
  readonly #accounts = new Map<string, Place>();
  readonly #now: () => number;

  /** @param now milliseconds that only grow */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * @throws RefusalError `concurrency_limited` while this account has one, or all accounts have as many as this replica
   *   makes and none of them is slow
   */
  take(accountKey: string): { begin(download: Download): void; leave(): void } {
    const { value } = limits.accountExports;
    if (this.#accounts.has(accountKey)) throw limited('A download of this account is running. Wait until it ends.');
    if (this.#accounts.size >= value && !this.#endSlowest())
      throw limited(`${value} accounts are being downloaded right now. Try again shortly.`);
    const place: Place = { download: null, since: this.#now() };
    this.#accounts.set(accountKey, place);
    return {
      begin: (download) => {
        place.download = download;
      },
      leave: () => {
        // After it was ended, the account may have another one.
        if (this.#accounts.get(accountKey) === place) this.#accounts.delete(accountKey);
      },
    };
  }

  /** @returns whether there was one */
  #endSlowest(): boolean {
    const now = this.#now();
    let slowest: { key: string; download: Download; rate: number } | undefined;
    for (const [key, { download, since }] of this.#accounts) {
      const age = now - since;
      if (download === null || age < PROTECTED_MILLISECONDS) continue;
      const rate = (download.bytes() * 1_000) / age;
      if (rate < (slowest?.rate ?? SLOW_BYTES_A_SECOND)) slowest = { key, download, rate };
    }
    if (slowest === undefined) return false;
    this.#accounts.delete(slowest.key);
    slowest.download.end();
    return true;
  }
}

function limited(detail: string): Error {
  return refuse('concurrency_limited', detail, { retryAfter: RETRY_SECONDS });
}
