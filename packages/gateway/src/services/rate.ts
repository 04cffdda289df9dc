// A rate that a Gateway counts by itself, for requests that core does not see. It holds for the whole installation, which
// has one Gateway at a time.

export interface RatePolicy {
  readonly perMinute: number;
  /** Tokens in a full bucket. */
  readonly burst: number;
}

export interface Rate {
  /** @returns `null` when the request may pass, else the seconds until one may */
  take(): number | null;
  /** What is left stays, up to the new burst. */
  change(policy: RatePolicy): void;
}

/** @param now a monotonic clock in milliseconds */
export function openRate(policy: RatePolicy, now: () => number = () => performance.now()): Rate {
  let { perMinute, burst } = policy;
  let tokens = burst;
  let at = now();
  return {
    take() {
      const time = now();
      tokens = Math.min(burst, tokens + ((time - at) / 60_000) * perMinute);
      at = time;
      if (tokens < 1) return ((1 - tokens) * 60) / perMinute;
      tokens -= 1;
      return null;
    },
    change(next) {
      tokens = Math.min(tokens, next.burst);
      ({ perMinute, burst } = next);
    },
  };
}
