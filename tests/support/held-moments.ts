// Holds core at named moments (packages/core/src/points.ts), so that a test can do something exactly there.
import type { At, Point } from '@platform/core';

export interface Moments<Name extends string = Point> {
  /** To be given to core, or to several replicas. */
  readonly at: (point: Name) => ReturnType<At>;
  /** Holds the next caller that reaches this moment; later ones pass. */
  hold(point: Name): HeldMoment;
}

export interface HeldMoment {
  /** Resolves when a caller is held. */
  readonly reached: Promise<void>;
  release(): void;
}

export function moments<Name extends string = Point>(): Moments<Name> {
  const waiting = new Map<Name, () => Promise<void>>();
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
