// Counts the requests under way in both directions: what keeps a workload awake, what one installation may have at a
// time, and when a closing Gateway is done.
import type { DescriptorShare } from './descriptor-budget.ts';

/** Requests of one direction at a time: core, shared by all installations, must not be filled by one of them. */
export const CONCURRENT_AT_MOST = 512;
/**
 * The same of public requests, open WebSockets included. They are counted by themselves, so that strangers do not keep the
 * app's own pages out. An Ingress lets fewer pass at first (contract 4e), so this is what an operator can raise it to.
 */
export const PUBLIC_AT_MOST = 10_000;

export interface Activity {
  readonly out: Direction;
  readonly in: Direction;
  /** Of the inbound ones, those from the internet. */
  readonly public: Direction;
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
  const counts = { out: 0, in: 0, public: 0 };
  const totals = { out: 0, in: 0, public: 0 };
  const all = () => counts.out + counts.in + counts.public;
  const direction = (name: keyof typeof counts, atMost: number): Direction => ({
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
      if (all() === 0) whenIdle?.();
    },
    begun: () => totals[name],
    isOverLimit: () => counts[name] > atMost || share.isOver(),
  });
  return {
    out: direction('out', CONCURRENT_AT_MOST),
    in: direction('in', CONCURRENT_AT_MOST),
    public: direction('public', PUBLIC_AT_MOST),
    count: all,
    idle: () =>
      new Promise((resolve) => {
        if (all() === 0) resolve();
        else whenIdle = resolve;
      }),
  };
}
