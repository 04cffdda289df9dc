// What a person typed or chose in a form of the shell and has not saved. It outlives the form: going to another page, Back,
// and a session that ended lose nothing, and the browser asks before it leaves the page with what is in memory alone. Only a
// press on Save, Cancel or Sign out ends a draft.
import { signal } from '@preact/signals';

interface Kept {
  readonly value: unknown;
  /** In memory alone, as long as the page and the session: never written down, on whatever device this is. */
  readonly secret: boolean;
}

const STORED = 'platform.drafts';

interface Stored {
  /** The account, `null` while nobody is signed in. */
  readonly owner: string | null;
  readonly values: Readonly<Record<string, unknown>>;
}

let owner: string | null = null;
const drafts = signal<ReadonlyMap<string, Kept>>(readStored());

function readStored(): ReadonlyMap<string, Kept> {
  try {
    const stored = JSON.parse(sessionStorage.getItem(STORED) ?? 'null') as Stored | null;
    if (stored === null) return new Map();
    owner = stored.owner;
    return new Map(Object.entries(stored.values).map(([key, value]) => [key, { value, secret: false }]));
  } catch {
    // Storage that the browser forbids, or of another version.
    return new Map();
  }
}

function change(next: ReadonlyMap<string, Kept>): void {
  drafts.value = next;
  const plain = [...next].filter(([, { secret }]) => !secret).map(([key, { value }]) => [key, value]);
  try {
    if (plain.length === 0) sessionStorage.removeItem(STORED);
    else sessionStorage.setItem(STORED, JSON.stringify({ owner, values: Object.fromEntries(plain) } satisfies Stored));
  } catch {
    // Full or forbidden: the page itself still has them.
  }
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

export interface Draft<Value> {
  /** What is typed, or else what is saved. */
  readonly value: Value;
  readonly isChanged: boolean;
  /** The same as what is saved is no draft. */
  put(value: Value): void;
  /** It was saved, or the person wants it no more. */
  drop(): void;
}

interface DraftOptions {
  /** Keys, tokens, codes. */
  readonly secret?: boolean;
}

/**
 * @param key of the form, with what it is about
 * @param saved as it is without a draft: plain data
 */
export function useDraft<Value>(key: string, saved: Value, { secret = false }: DraftOptions = {}): Draft<Value> {
  const kept = drafts.value.get(key);
  return {
    // Only `put` under this key writes it.
    value: kept === undefined ? saved : (kept.value as Value),
    isChanged: kept !== undefined,
    put: (value) => (isSame(value, saved) ? dropDraft(key) : change(new Map(drafts.value).set(key, { value, secret }))),
    drop: () => dropDraft(key),
  };
}

/** Whether something was typed there before: its form is then shown at once. */
export function hasDraft(key: string): boolean {
  return drafts.value.has(key);
}

export function dropDraft(key: string): void {
  if (!drafts.value.has(key)) return;
  const next = new Map(drafts.value);
  next.delete(key);
  change(next);
}

/** The account that is signed in from here on; what another one typed is dropped. */
export function claimDrafts(account: string): void {
  const mine = owner === account || owner === null ? drafts.value : new Map<string, Kept>();
  owner = account;
  change(mine);
}

/** How many would be lost with the session. */
export function draftCount(): number {
  return drafts.value.size;
}

/** The person signs out. */
export function dropDrafts(): void {
  change(new Map());
  owner = null;
}

/** The page goes whatever is typed, because the session ended. @returns whether something was lost */
export function dropSecretDrafts(): boolean {
  const left = [...drafts.value].filter(([, { secret }]) => !secret);
  const lost = left.length < drafts.value.size;
  change(new Map(left));
  return lost;
}

/** Has the browser ask before the page goes with something that is nowhere else. */
export function guardDrafts(): () => void {
  const ask = (event: BeforeUnloadEvent) => {
    if ([...drafts.value.values()].some(({ secret }) => secret)) event.preventDefault();
  };
  window.addEventListener('beforeunload', ask);
  return () => window.removeEventListener('beforeunload', ask);
}
