// Writes files: the bytes first, then in one transaction what they are of.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { type FileId, fileId, type InstallationId, limits, refuse } from '@platform/contract';
import type { CoreContext } from '../../context.ts';
import { newId } from '../../credentials/ids.ts';
import type { Executor } from '../../database/schema.ts';
import { type Arrived, giveUp, keepBody, makeRoom, OVERHEAD, type Room, receive } from '../bodies/bodies.ts';
import { retireBodies } from '../bodies/body-queries.ts';
import { ensureSpace } from '../collections/queries.ts';
import { conditionsOf, holds, preconditionFailed } from '../items/conditions.ts';
import {
  countFiles,
  deleteFile,
  type FileRow,
  insertFile,
  selectFile,
  selectTakenNames,
  updateFile,
} from './file-queries.ts';
import { noFile } from './file-standing.ts';

export type FileContext = Pick<
  CoreContext,
  'database' | 'pool' | 'clock' | 'random' | 'cursors' | 'config' | 'log' | 'stopping'
>;

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

/** In a transaction that holds the space. @throws RefusalError `disk_quota` */
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
  await makeRoom(trx, context, arrived, { room, former: null });
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

/** In a transaction that holds the space. @throws RefusalError `disk_quota` */
export async function replaceFile(
  trx: Executor,
  context: FileContext,
  file: FileRow,
  { arrived, room, type }: { readonly arrived: Arrived; readonly room: Room; readonly type: string },
): Promise<FileRow> {
  const now = context.clock();
  await makeRoom(trx, context, arrived, { room, former: Number(file.size) });
  await updateFile(trx, file.id, {
    ...{ media_type: type, etag: newTag(context), size: String(arrived.size) },
    body_id: await keepBody(trx, context, arrived, room),
    changed_at: now,
  });
  await retireBodies(trx, [file.body_id], { now, overhead: OVERHEAD });
  return found(trx, file.id);
}

/** In a transaction that holds the space. */
export async function removeFile(trx: Executor, { clock }: FileContext, file: FileRow): Promise<void> {
  await deleteFile(trx, file.id);
  await retireBodies(trx, [file.body_id], { now: clock(), overhead: OVERHEAD });
}

async function found(trx: Executor, id: FileId): Promise<FileRow> {
  const row = await selectFile(trx, id);
  if (row === undefined) throw noFile();
  return row;
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
  const isEnding = dot > 0 && name.length - dot <= LONGEST_ENDING;
  const ending = isEnding ? name.slice(dot) : '';
  const stem = shortStem(isEnding ? name.slice(0, dot) : name, ending);
  const taken = new Set(await selectTakenNames(trx, spaceId, stem));
  if (!taken.has(name)) return name;
  for (let number = 2; ; number += 1) {
    const numbered = `${stem} (${number})${ending}`;
    if (!taken.has(numbered)) return numbered;
  }
}

/** What follows the last full stop further on is no ending, but part of the name. */
const LONGEST_ENDING = 32;

/** Leaves room for a number, and no half of a character. */
function shortStem(stem: string, ending: string): string {
  const room = limits.fileName.value - 10 - ending.length;
  if (stem.length <= room) return stem;
  const cut = stem.slice(0, room);
  return (cut.isWellFormed() ? cut : cut.slice(0, -1)).trimEnd();
}
