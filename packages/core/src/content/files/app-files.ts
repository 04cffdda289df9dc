// The private files of an app, and to whom it opens them.
import type { IncomingMessage } from 'node:http';
import { type AppFile, appId, type FileAccessEntry, type RouteQuery, refuse } from '@platform/contract';
import type { Executor } from '../../database/schema.ts';
import { accountOfAddress, addressText, parseAddress } from '../../messaging/face.ts';
import { OVERHEAD } from '../bodies/bodies.ts';
import { deleteBodies } from '../bodies/body-queries.ts';
import { lockSpace } from '../collections/queries.ts';
import type { AppCaller } from '../collections/standing.ts';
import { replaceEntries, selectEntries } from './access-queries.ts';
import { type FileRow, selectNamed, selectOfApp } from './file-queries.ts';
import { noFile } from './file-standing.ts';
import {
  addFile,
  type FileContext,
  holdSpace,
  mediaTypeOf,
  ownRoom,
  receiveFile,
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
      await stillAllowed();
      return context.database.transaction().execute(async (trx) => {
        const before = await selectNamed(trx, installationId, name);
        await holdSpace(trx, context, arrived, { room, former: before });
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
  await onOwn(context, caller, name, async (trx, file) => {
    requireConditions(request.headers, file);
    await deleteBodies(trx, [file.body_id], OVERHEAD);
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
  return onOwn(context, caller, name, async (trx, file) => {
    await replaceEntries(trx, file.id, wanted);
    return shownEntries(context, trx, file);
  });
}

function onOwn<Result>(
  { database }: FileContext,
  { installationId }: AppCaller,
  name: string,
  work: (trx: Executor, file: FileRow) => Promise<Result>,
): Promise<Result> {
  return database.transaction().execute(async (trx) => {
    const file = await selectNamed(trx, installationId, name);
    if (file === undefined || !(await lockSpace(trx, file.space_id))) throw noFile();
    const now = await selectNamed(trx, installationId, name);
    if (now === undefined) throw noFile();
    return work(trx, now);
  });
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
