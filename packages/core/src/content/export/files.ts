// What an export has of files: those of the account and of its apps with their bytes and whom they are open to, and what others
// opened to the account.
import type { FileId } from '@platform/contract';
import { type AccountFile, everyRow, jsonLines } from '../../account-files.ts';
import { accessOfPerson } from '../file-rule.ts';
import { selectEntries, selectTransfers } from '../files/access-queries.ts';
import { shownFile } from '../files/app-files.ts';
import {
  type FileRow,
  selectFile,
  selectOfAccount,
  selectOfApp,
  selectOpenedToAccount,
} from '../files/file-queries.ts';
import { factsOf } from '../files/file-standing.ts';
import { ArchivedNames } from './archived-names.ts';
import { selectAppsWithFiles } from './queries.ts';
import { archived, type StagingContext } from './staged-body.ts';

const PAGE = 200;

export async function* fileFiles(context: StagingContext, accountKey: string): AsyncGenerator<AccountFile> {
  const { database } = context;
  const ofAccount = (after: string) => selectOfAccount(database, accountKey, { after, limit: PAGE });
  yield* folderOf(context, { folder: '', page: ofAccount, accessOf: (ids) => handedTo(context, accountKey, ids) });
  for (const { id, appId } of await selectAppsWithFiles(database, accountKey)) {
    const page = (after: string) => selectOfApp(database, id, { after, limit: PAGE });
    yield* folderOf(context, { folder: `apps/${appId}/`, page, accessOf: (ids) => openedTo(context, ids) });
  }
  yield* jsonLines('files-of-others', filesOfOthers(context, accountKey));
}

type AccessOf = (ids: readonly FileId[]) => Promise<ReadonlyMap<FileId, readonly object[]>>;

interface Folder {
  /** With its slash; empty for the archive's own. */
  readonly folder: string;
  /** By name. */
  readonly page: (after: string) => Promise<readonly FileRow[]>;
  readonly accessOf: AccessOf;
}

/** The bytes first, then the list: it says of each what the archive has of it. */
async function* folderOf(context: StagingContext, { folder, page, accessOf }: Folder): AsyncGenerator<AccountFile> {
  const names = new ArchivedNames();
  const stored: Stored[] = [];
  for await (const { id, name } of everyRow((last: FileRow | undefined) => page(last?.name ?? ''))) {
    const file = `files/${names.take(name)}`;
    const found = yield* archived(context, {
      path: `${folder}${file}`,
      read: () => selectFile(context.database, id),
      bodyOf: ({ body_id, size }) => ({ id: body_id, size: Number(size) }),
    });
    if (found !== null) stored.push({ id, shown: { ...shownFile(found.row), file: found.written ? file : null } });
  }
  yield* jsonLines(`${folder}files`, withAccess(stored, accessOf));
}

interface Stored {
  readonly id: FileId;
  readonly shown: object;
}

async function* withAccess(stored: readonly Stored[], accessOf: AccessOf): AsyncGenerator<object> {
  for (let at = 0; at < stored.length; at += PAGE) {
    const some = stored.slice(at, at + PAGE);
    const access = await accessOf(some.map(({ id }) => id));
    for (const { id, shown } of some) yield { id, ...shown, access: access.get(id) ?? [] };
  }
}

/** The apps that have a file of the account. */
async function handedTo({ database }: StagingContext, accountKey: string, ids: readonly FileId[]) {
  const transfers = await selectTransfers(database, ids, accountKey);
  return grouped(
    transfers.map(({ file_id, app_id, access, since }) => ({
      id: file_id,
      entry: { app: app_id, access, since: since.toISOString() },
    })),
  );
}

/** The apps and accounts that an app opened its file to. */
async function openedTo({ database }: StagingContext, ids: readonly FileId[]) {
  const entries = await selectEntries(database, ids);
  return grouped(
    entries.map(({ file_id, app_id, name, access }) => ({
      id: file_id,
      entry: { ...(app_id === null ? { account: name } : { app: app_id }), access },
    })),
  );
}

function grouped(entries: readonly { readonly id: FileId; readonly entry: object }[]) {
  const groups = Map.groupBy(entries, ({ id }) => id);
  return new Map([...groups].map(([id, some]) => [id, some.map(({ entry }) => entry)] as const));
}

/** Their bytes belong to others. */
async function* filesOfOthers(context: StagingContext, accountKey: string): AsyncGenerator<object> {
  const { database } = context;
  const page = (last: FileRow | undefined) =>
    selectOpenedToAccount(database, accountKey, { after: last?.id ?? '', limit: PAGE });
  for (let rows = await page(undefined); rows.length > 0; rows = await page(rows.at(-1))) {
    const facts = await factsOf(database, rows, accountKey, null);
    const handed = await handedTo(
      context,
      accountKey,
      rows.map(({ id }) => id),
    );
    for (const [place, row] of rows.entries()) {
      const one = facts[place];
      const access = one === undefined ? null : accessOfPerson(one, accountKey);
      if (access === null || row.owner_key === accountKey) continue;
      yield { id: row.id, ...shownFile(row), from: row.owner_name, access, handedTo: handed.get(row.id) ?? [] };
    }
  }
}
