// How many packages may be received at the same time: each may fill half a gigabyte of disk before it is refused.
import { limits, refuse } from '@platform/contract';

export class PublishSlots {
  readonly #byAccount = new Map<string, number>();
  #total = 0;

  /** @throws RefusalError `concurrency_limited` when the account, or all accounts together, publish too much at once */
  async hold<Result>(accountKey: string, work: () => Promise<Result>): Promise<Result> {
    const own = this.#byAccount.get(accountKey) ?? 0;
    if (own >= limits.publishesPerAccount.value || this.#total >= limits.publishes.value)
      throw refuse('concurrency_limited', 'Other packages are being published.', { retryAfter: 5 });
    this.#byAccount.set(accountKey, own + 1);
    this.#total += 1;
    try {
      return await work();
    } finally {
      this.#total -= 1;
      const left = (this.#byAccount.get(accountKey) ?? 1) - 1;
      if (left === 0) this.#byAccount.delete(accountKey);
      else this.#byAccount.set(accountKey, left);
    }
  }
}
