// Holds core at named moments (packages/core/src/points.ts), so that a test can do something exactly there.
import type { At, Point } from '@platform/core';

export interface Moments {
  /** To be given to core, or to several replicas. */
  readonly at: At;
  /** Holds whoever comes to this moment next; others pass. */
  hold(point: Point): HeldMoment;
}

export interface HeldMoment {
  /** Resolves when somebody is held. */
  readonly reached: Promise<void>;
  release(): void;
}

export function moments(): Moments {
  const waiting = new Map<Point, () => Promise<void>>();
  return {
    at(point) {
      const held = waiting.get(point);
      waiting.delete(point);
      return held?.();
    },
    hold(point) {
      const reached = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      waiting.set(point, () => {
        reached.resolve();
        return released.promise;
      });
      return { reached: reached.promise, release: () => released.resolve() };
    },
  };
}
