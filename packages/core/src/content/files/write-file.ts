// Writes files: the bytes first, then in one transaction what they are of.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { type FileId, fileId, type InstallationId, limits, refuse } from '@platform/contract';
import type { CoreContext } from '../../context.ts';
import { newId } from '../../credentials/ids.ts';
import type { Executor } from '../../database/schema.ts';
import { type Arrived, giveUp, keepBody, makeRoom, OVERHEAD, type Room, receive } from '../bodies/bodies.ts';
import { deleteBodies } from '../bodies/body-queries.ts';
import { ensureSpace, lockSpace } from '../collections/queries.ts';
import { conditionsOf, holds, preconditionFailed } from '../items/conditions.ts';
import { countFiles, type FileRow, insertFile, selectFile, selectTakenNames, updateFile } from './file-queries.ts';
import { noFile } from './file-standing.ts';

export type FileContext = Pick<CoreContext, 'database' | 'pool' | 'clock' | 'random' | 'cursors' | 'config' | 'log'>;

/** A type and subtype, and parameters as they are mostly written (RFC 9110, section 8.3.1). */
const MEDIA_TYPE = /^[a-z0-9!#$&^_.+-]{1,63}\/[a-z0-9!#$&^_.+-]{1,63}(?:; ?[a-z0-9-]{1,20}=[A-Za-z0-9._"-]{1,40})?$/i;
const BYTES = 'application/octet-stream';

/** What its writer says it is; what is nothing known is bytes. */
export function mediaTypeOf(headers: IncomingHttpHeaders): string {
  const said = headers['content-type'] ?? BYTES;
  return MEDIA_TYPE.test(said) ? said : BYTES;
}

/** The account's own room. */
export async function ownRoom(context: FileContext, accountKey: string): Promise<Room> {
  const spaceId = await ensureSpace(context.database, accountKey, newId('spc', context));
  return { spaceId, ownerKey: accountKey, own: true };
}

/** Whose room a file takes. @param accountKey of who writes it */
export function roomOf(row: FileRow, accountKey: string): Room {
  return { spaceId: row.space_id, ownerKey: row.owner_key, own: row.owner_key === accountKey };
}

interface Receiving {
  readonly request: IncomingMessage;
  readonly room: Room;
  /** Stores what has arrived; the bytes are given back when it throws. */
  store(arrived: Arrived): Promise<FileRow>;
}

/** @throws RefusalError `payload_too_large`, `disk_quota`, and what `store` throws */
export async function receiveFile(context: FileContext, { request, room, store }: Receiving): Promise<FileRow> {
  const arrived = await receive(context, request, { room, limit: limits.file.value });
  try {
    return await store(arrived);
  } catch (error) {
    await giveUp(context, arrived);
    throw error;
  }
}

export interface NewFile {
  readonly installationId: InstallationId | null;
  /** For one of the account it gets a number where it is taken. */
  readonly name: string;
  readonly type: string;
}

/** In a transaction that holds the space. */
export async function addFile(
  trx: Executor,
  context: FileContext,
  { installationId, name, type }: NewFile,
  { arrived, room }: { readonly arrived: Arrived; readonly room: Room },
): Promise<FileRow> {
  const { spaceId } = room;
  const most = installationId === null ? limits.filesOfAccount.value : limits.filesOfApp.value;
  if ((await countFiles(trx, { spaceId, installationId })) >= most)
    throw refuse('disk_quota', `There are ${most} files already. Delete some first.`);
  const id = fileId.parse(newId('fil', context));
  const at = context.clock();
  await insertFile(trx, {
    ...{ id, space_id: spaceId, installation_id: installationId },
    name: installationId === null ? await freeName(trx, spaceId, name) : name,
    ...{ media_type: type, etag: newTag(context), size: String(arrived.size) },
    body_id: await keepBody(trx, context, arrived, room),
    ...{ created_at: at, changed_at: at },
  });
  return found(trx, id);
}

/** In a transaction that holds the space. */
export async function replaceFile(
  trx: Executor,
  context: FileContext,
  file: FileRow,
  { arrived, room, type }: { readonly arrived: Arrived; readonly room: Room; readonly type: string },
): Promise<FileRow> {
  await updateFile(trx, file.id, {
    ...{ media_type: type, etag: newTag(context), size: String(arrived.size) },
    body_id: await keepBody(trx, context, arrived, room),
    changed_at: context.clock(),
  });
  await deleteBodies(trx, [file.body_id], OVERHEAD);
  return found(trx, file.id);
}

async function found(trx: Executor, id: FileId): Promise<FileRow> {
  const row = await selectFile(trx, id);
  if (row === undefined) throw noFile();
  return row;
}

/** Takes what the bytes need, then the space; nothing else of it changes until the transaction has ended. */
export async function holdSpace(
  trx: Executor,
  context: FileContext,
  arrived: Arrived,
  { room, former }: { readonly room: Room; readonly former: FileRow | undefined },
): Promise<void> {
  await makeRoom(trx, context, arrived, { room, former: former === undefined ? null : Number(former.size) });
  if (!(await lockSpace(trx, room.spaceId))) throw noFile();
}

/** @throws RefusalError `precondition_failed`, `invalid_request` */
export function requireConditions(headers: IncomingHttpHeaders, file: FileRow | undefined): void {
  if (!holds(conditionsOf(headers), file?.etag ?? null)) throw preconditionFailed();
}

function newTag({ random }: FileContext): string {
  return `"${random(12).toString('base64url')}"`;
}

/** `photo.jpg`, then `photo (2).jpg`. */
export async function freeName(trx: Executor, spaceId: string, name: string): Promise<string> {
  const dot = name.lastIndexOf('.');
  const stem = dot > 0 ? name.slice(0, dot) : name;
  const ending = dot > 0 ? name.slice(dot) : '';
  const taken = new Set(await selectTakenNames(trx, spaceId, shortStem(stem, ending)));
  if (!taken.has(name)) return name;
  for (let number = 2; ; number += 1) {
    const numbered = `${shortStem(stem, ending)} (${number})${ending}`;
    if (!taken.has(numbered)) return numbered;
  }
}

/** Leaves room for a number. */
function shortStem(stem: string, ending: string): string {
  const room = limits.fileName.value - 10 - ending.length;
  return stem.length <= room ? stem : stem.slice(0, Math.max(1, room)).trimEnd();
}
