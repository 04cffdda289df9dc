// Holds core at named moments (packages/core/src/points.ts), so that a test can do something exactly there.
import type { At, Point } from '@platform/core';

export interface Moments {
  /** To be given to core, or to several replicas. */
  readonly at: At;
  /** Holds the next caller that reaches this moment; later ones pass. */
  hold(point: Point): HeldMoment;
}

export interface HeldMoment {
  /** Resolves when a caller is held. */
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
