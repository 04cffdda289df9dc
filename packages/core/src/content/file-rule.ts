// What an app of an account may do with a file (specification 5.4, contract 4i). Pure: what there is comes in.
import type { FileAccess } from '@platform/contract';

/** Each includes those before it. */
const ACCESSES: readonly FileAccess[] = ['read', 'write', 'manage'];

export interface FileFacts {
  /** The account that it belongs to. */
  readonly accountKey: string;
  /** The app whose private file it is; `null` for one of the account. */
  readonly appId: string | null;
  /** To whom its app opened it: other apps of the same account, or accounts. */
  readonly entries: readonly FileEntry[];
  /** To which of their apps people handed it. */
  readonly transfers: readonly Transfer[];
}

export type FileEntry = { readonly access: FileAccess } & (
  | { readonly appId: string; readonly accountKey: null }
  | { readonly appId: null; readonly accountKey: string }
);

export interface Transfer {
  readonly accountKey: string;
  readonly appId: string;
  readonly access: FileAccess;
}

export interface FileAsker {
  readonly accountKey: string;
  readonly appId: string;
  /** It is the app by which a person looks after their files, and may do so. */
  readonly manages: boolean;
}

/** What a person may do with it, by the app that looks after their files. */
export function accessOfPerson(file: FileFacts, accountKey: string): FileAccess | null {
  if (file.appId === null) return file.accountKey === accountKey ? 'manage' : null;
  return strongest(file.entries.filter((entry) => entry.accountKey === accountKey));
}

/** `null` for none. */
export function accessOfApp(file: FileFacts, asker: FileAsker): FileAccess | null {
  const { accountKey, appId, manages } = asker;
  const isHome = file.accountKey === accountKey;
  const own: FileAccess | null = isHome && file.appId === appId ? 'manage' : null;
  const opened =
    isHome && file.appId !== null ? strongest(file.entries.filter((entry) => entry.appId === appId)) : null;
  const ofPerson = accessOfPerson(file, accountKey);
  const handed = file.transfers.filter((transfer) => transfer.accountKey === accountKey && transfer.appId === appId);
  // Nobody hands over more than they have, also where they had more when they did.
  const transferred = weaker(strongest(handed), ofPerson);
  return strongest([own, opened, transferred, manages ? ofPerson : null].flatMap((one) => one ?? []).map(asEntry));
}

/** Whether who has the one may do what the other allows. */
export function allowsAccess(held: FileAccess | null, wanted: FileAccess): boolean {
  return held !== null && ACCESSES.indexOf(held) >= ACCESSES.indexOf(wanted);
}

function asEntry(access: FileAccess): { readonly access: FileAccess } {
  return { access };
}

function strongest(entries: readonly { readonly access: FileAccess }[]): FileAccess | null {
  return ACCESSES.findLast((access) => entries.some((entry) => entry.access === access)) ?? null;
}

function weaker(one: FileAccess | null, other: FileAccess | null): FileAccess | null {
  if (one === null || other === null) return null;
  return allowsAccess(one, other) ? other : one;
}
