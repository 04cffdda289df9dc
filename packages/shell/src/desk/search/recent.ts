// What the search begins with: the apps that were opened last and what was searched for. It lies in this browser, for the
// account that is signed in, until that signs out.

export interface Recent {
  /** App ids, the last one first. */
  readonly apps: readonly string[];
  /** As typed, the last one first. */
  readonly searches: readonly string[];
}

export type RecentStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

const KEY = 'platform.recent';
/** Of each. */
export const RECENT_AT_MOST = 5;

const NOTHING: Recent = { apps: [], searches: [] };

/** Empty for another account than the one it was kept for. */
export function readRecent(storage: RecentStorage, account: string): Recent {
  const text = storage.getItem(KEY);
  if (text === null) return NOTHING;
  // Written by this file alone.
  const kept = JSON.parse(text) as Recent & { readonly account: string };
  return kept.account === account ? { apps: kept.apps, searches: kept.searches } : NOTHING;
}

/** Puts it first in its list. */
export function addRecent(storage: RecentStorage, account: string, list: keyof Recent, what: string): void {
  const recent = readRecent(storage, account);
  const others = recent[list].filter((each) => each !== what);
  const kept = { ...recent, [list]: [what, ...others].slice(0, RECENT_AT_MOST), account };
  try {
    storage.setItem(KEY, JSON.stringify(kept));
  } catch {
    // A browser without room keeps what it has.
  }
}

/** The account signed out, or its session ended. */
export function forgetRecent(storage: RecentStorage): void {
  storage.removeItem(KEY);
}
