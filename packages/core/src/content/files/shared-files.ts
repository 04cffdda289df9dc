// Files that others opened to an app, or that its person handed to it.
import type { IncomingMessage } from 'node:http';
import { appId, type FileId, type RouteQuery, type SharedFile, type UserFile } from '@platform/contract';
import { addressText } from '../../messaging/face.ts';
import { type AppCaller, holdToChange } from '../collections/standing.ts';
import { shownFile } from './app-files.ts';
import { type FileRow, selectOpened } from './file-queries.ts';
import { askerNow, askerOf, openFile, openTo } from './file-standing.ts';
import { type FileContext, mediaTypeOf, receiveFile, replaceFile, requireConditions, roomOf } from './write-file.ts';

export async function listShared(
  context: FileContext,
  caller: AppCaller,
  { limit, cursor }: RouteQuery<'services.files.shared'>,
): Promise<{ items: SharedFile[]; nextCursor: string | null }> {
  const { accountKey, installationId } = caller;
  const list = `shared-files:${installationId}`;
  const after = cursor === undefined ? '' : String(context.cursors.decode(list, cursor));
  const wanted = { accountKey, appId: caller.appId, after, limit: limit + 1 };
  const rows = await selectOpened(context.database, wanted);
  const page = rows.slice(0, limit);
  const open = await openTo(context.database, page, await askerOf(context, caller));
  const last = page.at(-1);
  const more = rows.length > limit && last !== undefined;
  return {
    items: open.map(({ row, access }) => ({
      ...shownUserFile(row),
      access,
      from: shownOwner(context, row, accountKey),
    })),
    nextCursor: more ? context.cursors.encode(list, last.id) : null,
  };
}

/** @throws RefusalError `not_found` */
export async function findShared(context: FileContext, caller: AppCaller, id: FileId): Promise<FileRow> {
  return (await openFile(context.database, id, await askerOf(context, caller), 'read')).row;
}

interface WritingShared {
  readonly caller: AppCaller;
  readonly id: FileId;
  readonly request: IncomingMessage;
  readonly stillAllowed: () => Promise<AppCaller>;
}

/** What is taken back while the bytes arrive is not written. @throws RefusalError */
export async function writeShared(
  context: FileContext,
  { caller, id, request, stillAllowed }: WritingShared,
): Promise<UserFile> {
  const { headers } = request;
  const { row: file } = await openFile(context.database, id, await askerOf(context, caller), 'write');
  requireConditions(headers, file);
  const room = roomOf(file, caller.accountKey);
  const row = await receiveFile(context, {
    request,
    room,
    store: async (arrived) => {
      const allowed = await stillAllowed();
      const before = await askerOf(context, allowed);
      return context.database.transaction().execute(async (trx) => {
        const asker = askerNow(before, await holdToChange(context, trx, allowed, room));
        const { row: now } = await openFile(trx, id, asker, 'write');
        requireConditions(headers, now);
        return replaceFile(trx, context, now, { arrived, room, type: mediaTypeOf(headers) });
      });
    },
  });
  return shownUserFile(row);
}

export function shownUserFile(row: FileRow): UserFile {
  return { id: row.id, ...shownFile(row) };
}

/** Whose it is, as it is said to an account. */
export function shownOwner(
  { config }: Pick<FileContext, 'config'>,
  row: FileRow,
  accountKey: string,
): SharedFile['from'] {
  if (row.app_id !== null && row.owner_key === accountKey) return { app: appId.parse(row.app_id) };
  return { account: addressText({ kind: 'local', name: row.owner_name }, config.messaging.serverName) };
}
