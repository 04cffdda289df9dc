// What all Gateways of a process may hold together of something, and how they share it: a workload that takes whatever it
// can takes nothing away from the others.

export interface Shares {
  /** The claim of one Gateway, which holds nothing yet. */
  open(): Share;
}

export interface Share {
  add(amount: number): void;
  remove(amount: number): void;
  /** Whether it holds more than is its share now, what was added last included. */
  isOver(): boolean;
  /** Adds `amount` if that is within its share. */
  take(amount: number): boolean;
}

/**
 * One Gateway may hold this part of what is free. So something is always left for the next: alone it gets a fifth of
 * the whole, and n greedy ones get 1 / (n + 4) each.
 */
const PART_OF_FREE = 1 / 4;

/** @param always what each may hold, however many are greedy */
export function openShares(total: number, always: number): Shares {
  let held = 0;
  return {
    open() {
      let own = 0;
      function add(amount: number): void {
        own += amount;
        held += amount;
      }
      function remove(amount: number): void {
        own -= amount;
        held -= amount;
      }
      // What it holds itself counts as held: the last one to begin is measured against what it leaves.
      const isOver = (): boolean => own > always && own > (total - held) * PART_OF_FREE;
      return {
        add,
        remove,
        isOver,
        take(amount) {
          add(amount);
          if (!isOver()) return true;
          remove(amount);
          return false;
        },
      };
    },
  };
}
