// Files of an account: as its person looks after them in the Files app, and as the shell hands them to apps.
import type { IncomingMessage } from 'node:http';
import {
  appId,
  type FileId,
  type FileTransfer,
  limits,
  type PickableFile,
  type RouteBody,
  type RouteQuery,
  refuse,
  type UserFile,
} from '@platform/contract';
import type { SessionCaller } from '../../accounts/face.ts';
import type { Executor } from '../../database/schema.ts';
import { allows } from '../../grants/grant-coverage.ts';
import { listPage } from '../../http/list-page.ts';
import { heldCaller, heldPerson, holdInstalled } from '../../installations/face.ts';
import { accountOfAddress, parseAddress } from '../../messaging/face.ts';
import { OVERHEAD, requireRoom } from '../bodies/bodies.ts';
import { copyBody } from '../bodies/body-queries.ts';
import { lockSpace } from '../collections/queries.ts';
import { type AppCaller, holdToChange } from '../collections/standing.ts';
import { accessOfPerson } from '../file-rule.ts';
import {
  countTransfers,
  deleteOpened,
  deleteTransfer,
  deleteTransfersOfOthers,
  insertTransfer,
  selectAllTransfers,
  selectSpaceOfOpened,
} from './access-queries.ts';
import {
  type FileRow,
  selectFile,
  selectNamed,
  selectOfAccount,
  selectOpenedToAccount,
  updateFile,
} from './file-queries.ts';
import { factsOf, fileOfPerson, noFile } from './file-standing.ts';
import { shownOwner, shownUserFile } from './shared-files.ts';
import { addFile, type FileContext, freeName, mediaTypeOf, ownRoom, receiveFile, removeFile } from './write-file.ts';

interface Page<Item> {
  readonly items: Item[];
  readonly nextCursor: string | null;
}

export async function listUserFiles(
  context: FileContext,
  accountKey: string,
  { limit, cursor }: RouteQuery<'services.userFiles.list'>,
): Promise<Page<UserFile>> {
  const list = `user-files:${accountKey}`;
  const after = cursor === undefined ? '' : String(context.cursors.decode(list, cursor));
  const rows = await selectOfAccount(context.database, accountKey, { after, limit: limit + 1 });
  const items = rows.slice(0, limit).map(shownUserFile);
  const last = items.at(-1);
  const more = rows.length > limit && last !== undefined;
  return { items, nextCursor: more ? context.cursors.encode(list, last.name) : null };
}

/** @throws RefusalError `disk_quota` */
export async function createUserFile(
  context: FileContext,
  {
    caller,
    name,
    request,
    stillAllowed,
  }: {
    readonly caller: AppCaller;
    readonly name: string;
    readonly request: IncomingMessage;
    readonly stillAllowed: () => Promise<AppCaller>;
  },
): Promise<UserFile> {
  const room = await ownRoom(context, caller.accountKey);
  const type = mediaTypeOf(request.headers);
  const row = await receiveFile(context, {
    request,
    room,
    store: async (arrived) => {
      const now = await stillAllowed();
      return context.database.transaction().execute(async (trx) => {
        requireManaging(await holdToChange(context, trx, now, room));
        return addFile(trx, context, { installationId: null, name, type }, { arrived, room });
      });
    },
  });
  return shownUserFile(row);
}

/** @throws RefusalError `grant_missing` */
function requireManaging({ grants }: AppCaller): void {
  if (!allows(grants, 'files.user.manage', '*')) throw refuse('grant_missing');
}

/** @throws RefusalError `not_found` */
export async function findUserFile(context: FileContext, accountKey: string, id: FileId): Promise<FileRow> {
  return requireOwn(await selectFile(context.database, id), accountKey);
}

function requireOwn(row: FileRow | undefined, accountKey: string): FileRow {
  if (row === undefined || row.installation_id !== null || row.owner_key !== accountKey) throw noFile();
  return row;
}

/** @throws RefusalError `not_found` */
export function renameUserFile(context: FileContext, caller: AppCaller, id: FileId, name: string): Promise<UserFile> {
  return onUserFile(context, caller, id, async (trx, file) => {
    if (name !== file.name) await updateFile(trx, id, { name: await freeName(trx, file.space_id, name) });
    return shownUserFile(requireOwn(await selectFile(trx, id), caller.accountKey));
  });
}

/** @throws RefusalError `not_found` */
export function deleteUserFile(context: FileContext, caller: AppCaller, id: FileId): Promise<void> {
  return onUserFile(context, caller, id, (trx, file) => removeFile(trx, context, file));
}

function onUserFile<Result>(
  context: FileContext,
  caller: AppCaller,
  id: FileId,
  work: (trx: Executor, file: FileRow) => Promise<Result>,
): Promise<Result> {
  const { accountKey } = caller;
  return context.database.transaction().execute(async (trx) => {
    requireManaging(await heldCaller(trx, context, caller));
    const file = requireOwn(await selectFile(trx, id), accountKey);
    if (!(await lockSpace(trx, file.space_id))) throw noFile();
    return work(trx, requireOwn(await selectFile(trx, id), accountKey));
  });
}

/** Where a list of what a person can hand over goes on: after a name of their own, or after a file of others. */
type Place = readonly ['own', name: string] | readonly ['others', id: string];

/** What a person can hand over: their own, by name, then those that others opened to them. */
export async function listForPerson(
  { database, cursors, config }: FileContext,
  accountKey: string,
  { limit, cursor, of }: RouteQuery<'account.files.list'>,
): Promise<Page<PickableFile>> {
  const list = `person-files:${accountKey}`;
  const begin: Place = [of ?? 'own', ''];
  const [part, after] = cursor === undefined ? begin : (cursors.decode(list, cursor) as Place);
  const wanted = limit + 1;
  const owned = part === 'own' ? await selectOfAccount(database, accountKey, { after, limit: wanted }) : [];
  const page = { after: part === 'others' ? after : '', limit: wanted - owned.length };
  const opened = page.limit > 0 ? await selectOpenedToAccount(database, accountKey, page) : [];
  const rows = [...owned, ...opened].slice(0, limit);
  const facts = await factsOf(database, rows, accountKey, null);
  const items = rows.flatMap((row, place) => {
    const one = facts[place];
    const access = one === undefined ? null : accessOfPerson(one, accountKey);
    const own = place < owned.length;
    return access === null
      ? []
      : [{ ...shownUserFile(row), access, from: shownOwner({ config }, row, accountKey), own }];
  });
  const last = rows.at(-1);
  const isOwn = rows.length <= owned.length;
  const more = owned.length + opened.length > limit && last !== undefined;
  const next: Place | null = more ? (isOwn ? ['own', last.name] : ['others', last.id]) : null;
  return { items, nextCursor: next && cursors.encode(list, next) };
}

/**
 * From the answer on, neither the person nor their apps have what others opened to them: one file, or all of somebody. That its owner
 * may open it again is theirs to decide, within limits.
 *
 * @throws RefusalError `not_found`
 */
export async function leaveFiles(
  context: FileContext,
  person: Person,
  { id, from }: RouteQuery<'account.files.leave'>,
): Promise<void> {
  const { accountKey } = person;
  const owner = from === undefined ? undefined : await ownerOf(context, from);
  await context.database.transaction().execute(async (trx) => {
    await heldPerson(trx, context, person);
    const which = id === undefined ? { ownerKey: owner?.key ?? '' } : { id };
    const spaceId = await selectSpaceOfOpened(trx, accountKey, which);
    if (spaceId === undefined || !(await lockSpace(trx, spaceId))) throw nothingOpened();
    await deleteTransfersOfOthers(trx, accountKey, which);
    if (!(await deleteOpened(trx, accountKey, which))) throw nothingOpened();
  });
}

async function ownerOf(context: FileContext, from: string): Promise<{ readonly key: string } | undefined> {
  const address = parseAddress(from, context.config.messaging.serverName);
  return address?.kind === 'local' ? accountOfAddress(context, address) : undefined;
}

function nothingOpened() {
  return refuse('not_found', 'Nobody opened such a file to you, or not any more.');
}

type Person = Pick<SessionCaller, 'accountKey' | 'sessionId'>;

/** Copies a private file of an app into one of the account. @throws RefusalError `not_found`, `disk_quota` */
export async function saveFromApp(
  context: FileContext,
  person: Person,
  { appId: from, name, saveAs = name }: RouteBody<'account.files.save'>,
): Promise<UserFile> {
  const { accountKey } = person;
  const room = await ownRoom(context, accountKey);
  return context.database.transaction().execute(async (trx) => {
    await heldPerson(trx, context, person);
    const installationId = await holdInstalled(trx, accountKey, from);
    if (installationId === undefined || !(await lockSpace(trx, room.spaceId))) throw noFile();
    const source = await selectNamed(trx, installationId, name);
    if (source === undefined) throw noFile();
    const size = Number(source.size);
    await requireRoom(trx, context, room, size + OVERHEAD);
    const id = await copyBody(trx, context, source.body_id, OVERHEAD);
    const added = { installationId: null, name: saveAs, type: source.media_type };
    return shownUserFile(await addFile(trx, context, added, { arrived: { kind: 'stored', id, size }, room }));
  });
}

/** Until it is taken back, or the app is removed. @throws RefusalError `not_found`, `not_authorized` */
export async function handOver(
  context: FileContext,
  person: Person,
  id: FileId,
  to: RouteBody<'account.files.handOver'>,
): Promise<UserFile> {
  const { accountKey } = person;
  return context.database.transaction().execute(async (trx) => {
    await heldPerson(trx, context, person);
    // A removal waits until the file was handed over, and takes it back.
    if ((await holdInstalled(trx, accountKey, to.appId)) === undefined)
      throw refuse('not_found', `The app ${to.appId} is not installed.`);
    const file = await fileOfPerson(trx, id, accountKey, to.access);
    if (!(await lockSpace(trx, file.space_id))) throw noFile();
    const now = await fileOfPerson(trx, id, accountKey, to.access);
    const most = limits.fileTransfers.value;
    if ((await countTransfers(trx, accountKey)) >= most)
      throw refuse('not_authorized', `Apps have ${most} of your files already. Take some back first.`);
    const row = { file_id: id, account_key: accountKey, app_id: to.appId, access: to.access, since: context.clock() };
    await insertTransfer(trx, row);
    return shownUserFile(now);
  });
}

export async function listTransfers(
  context: FileContext,
  accountKey: string,
  query: RouteQuery<'account.files.transfers'>,
): Promise<Page<FileTransfer>> {
  const rows = await selectAllTransfers(context.database, accountKey);
  const items = rows.map(({ file_id, name, app_id, access, since }) => ({
    file: { id: file_id, name },
    appId: appId.parse(app_id),
    access,
    since: since.toISOString(),
  }));
  const idOf = (one: FileTransfer) => `${one.file.id} ${one.appId}`;
  return listPage(context, query, { name: `file-transfers:${accountKey}`, items, idOf });
}

/** From the answer on the app neither reads nor writes it. @throws RefusalError `not_found` */
export async function takeBack(
  context: FileContext,
  transfer: { readonly accountKey: string; readonly id: FileId; readonly appId: string },
): Promise<void> {
  await context.database.transaction().execute(async (trx) => {
    const file = await selectFile(trx, transfer.id);
    if (file === undefined || !(await lockSpace(trx, file.space_id)) || !(await deleteTransfer(trx, transfer)))
      throw refuse('not_found', 'The app does not have this file.');
  });
}
