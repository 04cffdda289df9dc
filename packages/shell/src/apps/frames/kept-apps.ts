// What the page keeps of apps that are not loaded: the place where each was left, and what it asked to keep. It lies in
// this tab's session storage, so that it outlives a reload, and belongs to one installation of one account.

/** One installation: an app that was removed and installed again is another one. */
export interface Installation {
  readonly appId: string;
  readonly installedAt: string;
}

export interface KeptApps {
  placeOf(app: Installation): string | null;
  /** `null` forgets it. */
  keepPlace(app: Installation, place: string | null): void;
  stateOf(app: Installation): string | null;
  /** `null` forgets it. @throws Error when the browser takes nothing at all */
  keepState(app: Installation, state: string | null): void;
  /** Forgets every installation but these. */
  keepOnly(installed: readonly Installation[]): void;
}

/** The part of the browser's `Storage` that is used. */
export type KeptStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>;

type Kind = 'place' | 'state';

interface Entry {
  readonly account: string;
  readonly installedAt: string;
  /** Grows with every write of this tab; what was written longest ago makes room first. */
  readonly written: number;
  readonly value: string;
}

/** All entries together, in characters. Browsers give an origin about five million. */
export const KEPT_CHARACTERS = 2 * 1024 * 1024;
const PREFIX = 'platform.kept.';

/** Forgets everything: the account signed out. */
export function forgetKept(storage: KeptStorage): void {
  for (const key of keysOf(storage)) storage.removeItem(key);
}

/** What is kept of this account's apps; what another account left behind is forgotten at once. */
export function keepApps(storage: KeptStorage, account: string): KeptApps {
  for (const key of keysOf(storage)) if (read(storage, key)?.account !== account) storage.removeItem(key);
  let written = Math.max(0, ...keysOf(storage).map((key) => read(storage, key)?.written ?? 0));

  function found(kind: Kind, { appId, installedAt }: Installation): string | null {
    const entry = read(storage, keyOf(kind, appId));
    return entry?.account === account && entry.installedAt === installedAt ? entry.value : null;
  }

  function keep(kind: Kind, { appId, installedAt }: Installation, value: string | null): void {
    const key = keyOf(kind, appId);
    if (value === null) {
      storage.removeItem(key);
      return;
    }
    written += 1;
    const entry: Entry = { account, installedAt, written, value };
    const text = JSON.stringify(entry);
    makeRoom(storage, key, text.length);
    storage.setItem(key, text);
  }

  return {
    placeOf: (app) => found('place', app),
    keepPlace: (app, place) => keep('place', app, place),
    stateOf: (app) => found('state', app),
    keepState: (app, state) => keep('state', app, state),
    keepOnly(installed) {
      for (const key of keysOf(storage)) {
        const appId = key.slice(key.lastIndexOf('.') + 1);
        const { installedAt } = read(storage, key) ?? {};
        if (!installed.some((app) => app.appId === appId && app.installedAt === installedAt)) storage.removeItem(key);
      }
    },
  };
}

function keyOf(kind: Kind, appId: string): string {
  return `${PREFIX}${kind}.${appId}`;
}

function keysOf(storage: KeptStorage): readonly string[] {
  const keys = Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? '');
  return keys.filter((key) => key.startsWith(PREFIX));
}

function read(storage: KeptStorage, key: string): Entry | null {
  const text = storage.getItem(key);
  // Written by this file alone.
  return text === null ? null : (JSON.parse(text) as Entry);
}

/** Forgets what was written longest ago until an entry of so many characters fits. */
function makeRoom(storage: KeptStorage, key: string, characters: number): void {
  const sizeOf = (other: string) => other.length + (storage.getItem(other)?.length ?? 0);
  const others = keysOf(storage).filter((other) => other !== key);
  let sum = others.reduce((total, other) => total + sizeOf(other), key.length + characters);
  if (sum <= KEPT_CHARACTERS) return;
  const writtenAt = new Map(others.map((other) => [other, read(storage, other)?.written ?? 0]));
  for (const other of others.toSorted((one, two) => (writtenAt.get(one) ?? 0) - (writtenAt.get(two) ?? 0))) {
    if (sum <= KEPT_CHARACTERS) return;
    sum -= sizeOf(other);
    storage.removeItem(other);
  }
}
