// What a caller may do with files, as the rule says it of what is stored.
import { type FileAccess, type FileId, refuse } from '@platform/contract';
import type { CoreContext } from '../../context.ts';
import type { Executor } from '../../database/schema.ts';
import { allows } from '../../grants/grant-coverage.ts';
import { bearsSystemRole } from '../../installations/face.ts';
import type { AppCaller } from '../collections/standing.ts';
import {
  accessOfApp,
  accessOfPerson,
  allowsAccess,
  type FileAsker,
  type FileEntry,
  type FileFacts,
} from '../file-rule.ts';
import { selectEntriesFor, selectTransfers } from './access-queries.ts';
import { type FileRow, selectFile } from './file-queries.ts';

/** @returns the caller as the rule of files sees it */
export async function askerOf({ pool }: Pick<CoreContext, 'pool'>, caller: AppCaller): Promise<FileAsker> {
  const { accountKey, appId, grants, installationId } = caller;
  const manages =
    allows(grants, 'files.user.manage', '*') && (await bearsSystemRole(pool, installationId, 'files.user-manager'));
  return { accountKey, appId, manages };
}

/** The same in a transaction, of the caller as of now. */
export function askerNow(before: FileAsker, { grants }: AppCaller): FileAsker {
  return { ...before, manages: before.manages && allows(grants, 'files.user.manage', '*') };
}

/** What the rule needs of each file: of entries and transfers, those of this account and app alone. */
export async function factsOf(
  db: Executor,
  rows: readonly FileRow[],
  accountKey: string,
  appId: string | null,
): Promise<FileFacts[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const entries = Map.groupBy(await selectEntriesFor(db, ids, { accountKey, appId }), (entry) => entry.file_id);
  const transfers = Map.groupBy(await selectTransfers(db, ids, accountKey), (transfer) => transfer.file_id);
  return rows.map((row) => ({
    accountKey: row.owner_key,
    appId: row.installation_id === null ? null : (row.app_id ?? ''),
    entries: (entries.get(row.id) ?? []).flatMap(entryOf),
    transfers: (transfers.get(row.id) ?? []).map((one) => ({
      accountKey: one.account_key,
      appId: one.app_id,
      access: one.access,
    })),
  }));
}

function entryOf(row: {
  readonly app_id: string | null;
  readonly account_key: string | null;
  readonly access: FileAccess;
}): FileEntry[] {
  const { app_id: appId, account_key: accountKey, access } = row;
  if (appId !== null) return [{ appId, accountKey: null, access }];
  return accountKey === null ? [] : [{ appId: null, accountKey, access }];
}

export interface OpenFile {
  readonly row: FileRow;
  readonly access: FileAccess;
}

/** Of these, those that the app may read. */
export async function openTo(db: Executor, rows: readonly FileRow[], asker: FileAsker): Promise<OpenFile[]> {
  const facts = await factsOf(db, rows, asker.accountKey, asker.appId);
  return rows.flatMap((row, place) => {
    const one = facts[place];
    const access = one === undefined ? null : accessOfApp(one, asker);
    return access === null ? [] : [{ row, access }];
  });
}

/** @throws RefusalError `not_found` where the app may not even read, `not_authorized` */
export async function openFile(db: Executor, id: FileId, asker: FileAsker, wanted: FileAccess): Promise<OpenFile> {
  const row = await selectFile(db, id);
  const [open] = row === undefined ? [] : await openTo(db, [row], asker);
  if (open === undefined) throw noFile();
  if (!allowsAccess(open.access, wanted))
    throw refuse('not_authorized', 'The app may read this file, and not change it.');
  return open;
}

/** As the person, who hands it over. @throws RefusalError `not_found`, `not_authorized` */
export async function fileOfPerson(db: Executor, id: FileId, accountKey: string, wanted: FileAccess): Promise<FileRow> {
  const row = await selectFile(db, id);
  const [facts] = row === undefined ? [] : await factsOf(db, [row], accountKey, null);
  const access = facts === undefined ? null : accessOfPerson(facts, accountKey);
  if (row === undefined || access === null) throw noFile();
  if (!allowsAccess(access, wanted)) throw refuse('not_authorized', 'You may read this file, and not change it.');
  return row;
}

export function noFile() {
  return refuse('not_found', 'There is no such file, or it is not open to this app.');
}
