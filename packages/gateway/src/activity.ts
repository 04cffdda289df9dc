// Counts the requests under way in both directions: what keeps a workload awake, what one installation may have at a
// time, and when a closing Gateway is done.
import type { DescriptorShare } from './descriptor-budget.ts';

/** Requests of one direction at a time: core, shared by all installations, must not be filled by one of them. */
export const CONCURRENT_AT_MOST = 512;

export interface Activity {
  readonly out: Direction;
  readonly in: Direction;
  /** Requests under way, both directions. */
  count(): number;
  /** Resolves once nothing is under way. */
  idle(): Promise<void>;
}

export interface Direction {
  begin(): void;
  end(): void;
  /** Requests since the Gateway was opened. */
  begun(): number;
  /** Whether more is under way than one installation may have. */
  isOverLimit(): boolean;
}

/**
 * @param onChange called at every begin and every end
 * @param share counts every request under way too
 */
export function openActivity(onChange: () => void, share: DescriptorShare): Activity {
  let whenIdle: (() => void) | null = null;
  const counts = { out: 0, in: 0 };
  const totals = { out: 0, in: 0 };
  const direction = (name: keyof typeof counts): Direction => ({
    begin() {
      counts[name] += 1;
      totals[name] += 1;
      share.begin();
      onChange();
    },
    end() {
      counts[name] -= 1;
      share.end();
      onChange();
      if (counts.out + counts.in === 0) whenIdle?.();
    },
    begun: () => totals[name],
    isOverLimit: () => counts[name] > CONCURRENT_AT_MOST || share.isOver(),
  });
  return {
    out: direction('out'),
    in: direction('in'),
    count: () => counts.out + counts.in,
    idle: () =>
      new Promise((resolve) => {
        if (counts.out + counts.in === 0) resolve();
        else whenIdle = resolve;
      }),
  };
}
