// What apps propose, once the first screen is there: nothing of it is in the first load.

export interface FollowedProposals {
  /** Reads them anew. */
  follow(): void;
  end(): void;
}

/** Reads them, and announces those that come. */
export function beginProposals(): FollowedProposals {
  const loaded = import('./announce-proposals.ts').then(({ announceProposals }) => announceProposals());
  // Without it they wait in Settings, which says why it cannot be loaded.
  const then = (work: (followed: Awaited<typeof loaded>) => void): void =>
    void loaded.then(work).catch(() => undefined);
  then(({ follow }) => follow());
  return { follow: () => then(({ follow }) => follow()), end: () => then(({ end }) => end()) };
}
