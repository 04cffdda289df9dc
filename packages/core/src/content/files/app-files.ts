// The private files of an app, and to whom it opens them.
import type { IncomingMessage } from 'node:http';
import { type AppFile, appId, type FileAccessEntry, limits, type RouteQuery, refuse } from '@platform/contract';
import type { Executor } from '../../database/schema.ts';
import { heldCaller } from '../../installations/face.ts';
import { accountOfAddress, addressText, parseAddress } from '../../messaging/face.ts';
import { lockSpace } from '../collections/queries.ts';
import { type AppCaller, holdToChange } from '../collections/standing.ts';
import { countOpened, replaceEntries, selectEntries } from './access-queries.ts';
import { type FileRow, selectNamed, selectOfApp } from './file-queries.ts';
import { noFile } from './file-standing.ts';
import {
  addFile,
  type FileContext,
  mediaTypeOf,
  ownRoom,
  receiveFile,
  removeFile,
  replaceFile,
  requireConditions,
} from './write-file.ts';

export async function listOwn(
  context: FileContext,
  { installationId }: AppCaller,
  { limit, cursor }: RouteQuery<'services.files.list'>,
): Promise<{ items: AppFile[]; nextCursor: string | null }> {
  const list = `files:${installationId}`;
  const after = cursor === undefined ? '' : String(context.cursors.decode(list, cursor));
  const rows = await selectOfApp(context.database, installationId, { after, limit: limit + 1 });
  const items = rows.slice(0, limit).map(shownFile);
  const last = items.at(-1);
  const more = rows.length > limit && last !== undefined;
  return { items, nextCursor: more ? context.cursors.encode(list, last.name) : null };
}

/** @throws RefusalError `not_found` */
export async function findOwn(context: FileContext, { installationId }: AppCaller, name: string): Promise<FileRow> {
  const row = await selectNamed(context.database, installationId, name);
  if (row === undefined) throw noFile();
  return row;
}

interface WritingOwn {
  readonly caller: AppCaller;
  readonly name: string;
  readonly request: IncomingMessage;
  readonly stillAllowed: () => Promise<AppCaller>;
}

/** @throws RefusalError `precondition_failed`, `disk_quota` */
export async function writeOwn(
  context: FileContext,
  { caller, name, request, stillAllowed }: WritingOwn,
): Promise<{ readonly file: AppFile; readonly created: boolean }> {
  const { installationId, accountKey } = caller;
  const { headers } = request;
  requireConditions(headers, await selectNamed(context.database, installationId, name));
  const room = await ownRoom(context, accountKey);
  const type = mediaTypeOf(headers);
  let created = false;
  const row = await receiveFile(context, {
    request,
    room,
    store: async (arrived) => {
      const now = await stillAllowed();
      return context.database.transaction().execute(async (trx) => {
        await holdToChange(context, trx, now, room);
        const former = await selectNamed(trx, installationId, name);
        requireConditions(headers, former);
        created = former === undefined;
        return former === undefined
          ? addFile(trx, context, { installationId, name, type }, { arrived, room })
          : replaceFile(trx, context, former, { arrived, room, type });
      });
    },
  });
  return { file: shownFile(row), created };
}

/** @throws RefusalError `not_found`, `precondition_failed` */
export async function deleteOwn(
  context: FileContext,
  { caller, name, request }: Omit<WritingOwn, 'stillAllowed'>,
): Promise<void> {
  await onOwn(context, { caller, name }, async (trx, file) => {
    requireConditions(request.headers, file);
    await removeFile(trx, context, file);
  });
}

/** @throws RefusalError `not_found` */
export async function readEntries(context: FileContext, caller: AppCaller, name: string): Promise<FileAccessEntry[]> {
  return shownEntries(context, context.database, await findOwn(context, caller, name));
}

/** @throws RefusalError `not_found`, also for a name that nobody has; `invalid_request` for what is no address here */
export async function writeEntries(
  context: FileContext,
  caller: AppCaller,
  name: string,
  entries: readonly FileAccessEntry[],
): Promise<FileAccessEntry[]> {
  const wanted = await Promise.all(entries.map((entry, place) => storedEntry(context, entry, place)));
  const principals = wanted.map(({ app_id, account_key }) => app_id ?? `@${account_key}`);
  if (new Set(principals).size < principals.length)
    throw refuse('invalid_request', 'Each app and each account may be named once.');
  const named = wanted.flatMap(({ account_key }) => account_key ?? []);
  return onOwn(context, { caller, name, others: named }, async (trx, file) => {
    await replaceEntries(trx, file, wanted);
    await requireFewOpened(trx, file.owner_key, named);
    return shownEntries(context, trx, file);
  });
}

interface OnOwn {
  readonly caller: AppCaller;
  readonly name: string;
  /** Accounts that are locked with that of the caller. */
  readonly others?: readonly string[];
}

/** @throws RefusalError `not_found` */
function onOwn<Result>(
  context: FileContext,
  { caller, name, others = [] }: OnOwn,
  work: (trx: Executor, file: FileRow) => Promise<Result>,
): Promise<Result> {
  const { installationId } = caller;
  return context.database.transaction().execute(async (trx) => {
    await heldCaller(trx, context, caller, others);
    const file = await selectNamed(trx, installationId, name);
    if (file === undefined || !(await lockSpace(trx, file.space_id))) throw noFile();
    const now = await selectNamed(trx, installationId, name);
    if (now === undefined) throw noFile();
    return work(trx, now);
  });
}

/**
 * Whoever is named gets the file among theirs, so nobody fills what others see of theirs, and all together fill it with no end.
 *
 * @throws RefusalError `not_authorized`
 */
async function requireFewOpened(trx: Executor, ownerKey: string, named: readonly string[]): Promise<void> {
  if (named.length === 0) return;
  const toOne = limits.filesOpenedToOne.value;
  const inAll = limits.filesOpenedInAll.value;
  for (const { name, byOwner, byAll } of await countOpened(trx, ownerKey, named)) {
    if (byOwner > toOne)
      throw refuse('not_authorized', `At most ${toOne} files of one account can be open to ${name} at a time.`);
    if (byAll > inAll) throw refuse('not_authorized', `Too many files are open to ${name} already.`);
  }
}

async function storedEntry(context: FileContext, { principal, access }: FileAccessEntry, place: number) {
  if ('app' in principal) return { app_id: principal.app, account_key: null, access };
  const { serverName } = context.config.messaging;
  const address = parseAddress(principal.account, serverName);
  const path = `entries.${place}.principal.account`;
  if (address?.kind !== 'local')
    throw refuse('invalid_request', 'Files are opened to accounts of this platform alone.', {
      errors: [{ path, message: 'is no address here' }],
    });
  const account = await accountOfAddress(context, address);
  if (account === undefined) throw refuse('not_found', `There is no account named ${address.name}.`);
  return { app_id: null, account_key: account.key, access };
}

async function shownEntries({ config }: FileContext, db: Executor, { id }: FileRow): Promise<FileAccessEntry[]> {
  const { serverName } = config.messaging;
  return (await selectEntries(db, [id])).map(({ app_id, name, access }) => ({
    principal:
      app_id === null
        ? { account: addressText({ kind: 'local', name: name ?? '' }, serverName) }
        : { app: appId.parse(app_id) },
    access,
  }));
}

export function shownFile(row: FileRow): AppFile {
  return {
    name: row.name,
    type: row.media_type,
    size: Number(row.size),
    etag: row.etag,
    createdAt: row.created_at.toISOString(),
    changedAt: row.changed_at.toISOString(),
  };
}
