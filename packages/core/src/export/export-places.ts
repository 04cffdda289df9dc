// How many exports run at the same time: each reads much of the database and of the disk.
import { limits, refuse } from '@platform/contract';

const RETRY_SECONDS = 30;

export class ExportPlaces {
  readonly #accounts = new Set<string>();

  /**
   * @returns call it at the end
   * @throws RefusalError `concurrency_limited` while this account has one, or all accounts have as many as this replica makes
   */
  take(accountKey: string): () => void {
    const { value } = limits.accountExports;
    const own = this.#accounts.has(accountKey);
    if (own || this.#accounts.size >= value) {
      const detail = own
        ? 'A download of this account is running. Wait until it ends.'
        : `${value} accounts are being downloaded right now. Try again shortly.`;
      throw refuse('concurrency_limited', detail, { retryAfter: RETRY_SECONDS });
    }
    this.#accounts.add(accountKey);
    return () => this.#accounts.delete(accountKey);
  }
}
