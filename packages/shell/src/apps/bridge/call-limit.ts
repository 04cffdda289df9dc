// How often one app may call a method that makes the shell write something down, on top of what its port takes at all.
import { BridgeRefusal } from './refusal.ts';

export interface CallLimit {
  /** Counts one call. @throws BridgeRefusal `rate_limited` when the app made as many as it may */
  count(appId: string): void;
}

/** @param calls in any `windowMs`, counted from the first call of a window */
export function createCallLimit(
  now: () => number,
  { calls, windowMs }: { calls: number; windowMs: number },
): CallLimit {
  const windows = new Map<string, { readonly since: number; calls: number }>();
  return {
    count(appId) {
      const known = windows.get(appId);
      const window = known !== undefined && now() - known.since < windowMs ? known : { since: now(), calls: 0 };
      windows.set(appId, window);
      window.calls += 1;
      if (window.calls > calls) throw new BridgeRefusal('rate_limited', 'Too many calls; wait a few seconds.');
    },
  };
}
