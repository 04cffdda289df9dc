// How many calls of one app are under way, over all its documents: each may hold one of the few connections that a browser
// opens to the shell's host, and an app that reloads has a new port while calls of the former one go on.

/** A browser opens six connections to a host (HTTP/1.1), of which the shell's own stream of events holds one. */
export const CALLS_UNDER_WAY = 3;

export interface CallTurns {
  /** Runs the call when it is its turn among those of the app. */
  take<Result>(appId: string, run: () => Promise<Result>): Promise<Result>;
}

export function createCallTurns(): CallTurns {
  const apps = new Map<string, { underWay: number; readonly waiting: (() => void)[] }>();
  return {
    async take(appId, run) {
      const turns = apps.get(appId) ?? { underWay: 0, waiting: [] };
      apps.set(appId, turns);
      if (turns.underWay < CALLS_UNDER_WAY) turns.underWay += 1;
      // The one that ends hands its turn on.
      else await new Promise<void>((resolve) => turns.waiting.push(resolve));
      try {
        return await run();
      } finally {
        const next = turns.waiting.shift();
        if (next !== undefined) next();
        else {
          turns.underWay -= 1;
          if (turns.underWay === 0) apps.delete(appId);
        }
      }
    },
  };
}
