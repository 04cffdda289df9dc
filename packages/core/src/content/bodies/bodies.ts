// The bytes of items and files: taken in within the owner's disk space as they arrive, and read piece by piece. Where they lie is
// known here alone.
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { limits, RefusalError, refuse } from '@platform/contract';
import { hasBody, readBody, receiveBody } from '@platform/http';
import type { CoreContext } from '../../context.ts';
import { uuidv7 } from '../../credentials/ids.ts';
import type { Executor } from '../../database/schema.ts';
import { requireAccountDisk } from '../../disk/face.ts';
import {
  addUse,
  deleteUnused,
  growBody,
  holdBody,
  insertBody,
  insertPiece,
  selectPiece,
  useBody,
} from './body-queries.ts';
import { type FarContext, FarPieces, hashOf } from './far-pieces.ts';

type BodyContext = Pick<CoreContext, 'database' | 'clock' | 'random' | 'config' | 'log' | 'stopping'>;

/** Small enough to be held until it is stored with what it belongs to. */
const HELD = 256 * 1_024;
/** At least, but for the last one; the chunk that fills a piece is never cut. */
const PIECE = 512 * 1_024;
const LARGEST_PIECE = 2 * PIECE;
/**
 * For so long a body stays after the piece that was read last. A reader of half the rate at which an upload must arrive is in time
 * for the next one.
 */
const READING_MILLISECONDS = 120_000;
/** What each takes besides its bytes. */
export const OVERHEAD = limits.keptBytes.value;

/** Whose disk space it takes. */
export interface Room {
  readonly spaceId: string;
  /** `null` for a space that nobody pays for any more: nothing is added to it. */
  readonly ownerKey: string | null;
  /** Who adds to it is its owner, and may read how much is left. */
  readonly own: boolean;
}

export type Arrived =
  | { readonly kind: 'held'; readonly bytes: Buffer; readonly size: number }
  /** Stored and counted already, and given up unless it is used. */
  | { readonly kind: 'stored'; readonly id: string; readonly size: number };

/**
 * Takes in the body of a request. What is large is stored and counted piece by piece, so that uploads at the same time never take
 * more together than there is.
 *
 * @throws RefusalError `payload_too_large`, `disk_quota`
 */
export async function receive(
  context: BodyContext,
  request: IncomingMessage,
  { room, limit }: { readonly room: Room; readonly limit: number },
): Promise<Arrived> {
  const milliseconds = Math.max(limits.bodySeconds.value, limit / limits.uploadRate.value) * 1_000;
  if (!hasBody(request)) return { kind: 'held', bytes: Buffer.alloc(0), size: 0 };
  const announced = request.headers['content-length'];
  if (announced !== undefined && Number(announced) <= HELD) {
    const bytes = await readBody(request, { limit, milliseconds });
    return { kind: 'held', bytes, size: bytes.length };
  }
  const id = `bdy-${uuidv7(context)}`;
  await context.database.transaction().execute(async (trx) => {
    await takeRoom(trx, context, room, OVERHEAD);
    await insertBody(trx, { id, spaceId: room.spaceId, used: false, size: 0, at: context.clock() });
  });
  const far = new FarPieces(context);
  try {
    const size = await storeArriving(context, request, { id, room, limit, milliseconds, far });
    return { kind: 'stored', id, size };
  } catch (error) {
    await giveUp(context, { kind: 'stored', id, size: 0 });
    throw error;
  } finally {
    await far.close();
  }
}

interface Arriving {
  readonly id: string;
  readonly room: Room;
  readonly limit: number;
  readonly milliseconds: number;
  readonly far: FarPieces;
}

async function storeArriving(
  context: BodyContext,
  request: IncomingMessage,
  { id, room, limit, milliseconds, far }: Arriving,
): Promise<number> {
  let size = 0;
  let number = 0;
  let waiting: Buffer[] = [];
  let bytes = 0;
  const flush = async (): Promise<void> => {
    const piece = Buffer.concat(waiting);
    waiting = [];
    bytes = 0;
    const objectKey = `${id}/${number}`;
    await context.database.transaction().execute(async (trx) => {
      await takeRoom(trx, context, room, piece.length);
      if (!(await growBody(trx, id, piece.length))) throw refuse('unavailable', 'The upload took too long.');
      const there = { objectKey, sha256: hashOf(piece), at: context.clock() };
      await insertPiece(trx, id, number, far.isThere ? there : { bytes: piece });
    });
    if (far.isThere) await far.put(objectKey, piece);
    number += 1;
    size += piece.length;
  };
  await receiveBody(request, { limit, milliseconds }, (chunk) => {
    waiting.push(chunk);
    bytes += chunk.length;
    return bytes >= PIECE ? flush() : undefined;
  });
  if (bytes > 0) await flush();
  return size;
}

/** Of a body that nothing came of. */
export async function giveUp({ database, log }: BodyContext, arrived: Arrived): Promise<void> {
  if (arrived.kind === 'held') return;
  await deleteUnused(database, arrived.id, OVERHEAD).catch((error: unknown) =>
    log.warn({ err: error }, 'bytes of a refused upload stay until they are swept'),
  );
}

/**
 * In the transaction of what the body belongs to, which holds the space and the account of its owner.
 *
 * @param former body that it takes the place of
 * @throws RefusalError `disk_quota`
 */
export async function makeRoom(
  trx: Executor,
  context: BodyContext,
  arrived: Arrived,
  { room, former }: { readonly room: Room; readonly former: number | null },
): Promise<void> {
  if (arrived.kind === 'stored') return;
  const more = arrived.size + OVERHEAD - (former === null ? 0 : former + OVERHEAD);
  if (more > 0) await requireRoom(trx, context, room, more);
}

/** @returns the id of the body */
export async function keepBody(trx: Executor, context: BodyContext, arrived: Arrived, room: Room): Promise<string> {
  if (arrived.kind === 'stored') {
    if (!(await useBody(trx, arrived.id))) throw refuse('unavailable', 'The upload took too long. Send it again.');
    return arrived.id;
  }
  const id = `bdy-${uuidv7(context)}`;
  await insertBody(trx, { id, spaceId: room.spaceId, used: true, size: arrived.size, at: context.clock() });
  if (arrived.size > 0) await insertPiece(trx, id, 0, { bytes: arrived.bytes });
  await addUse(trx, room.spaceId, arrived.size + OVERHEAD);
  return id;
}

async function takeRoom(trx: Executor, context: BodyContext, room: Room, bytes: number): Promise<void> {
  await requireRoom(trx, context, room, bytes);
  await addUse(trx, room.spaceId, bytes);
}

/** @throws RefusalError `disk_quota`, `content_conflict` */
export async function requireRoom(trx: Executor, context: BodyContext, room: Room, bytes: number): Promise<void> {
  const { ownerKey, own } = room;
  if (ownerKey === null) throw refuse('content_conflict', 'The account that owned it was deleted.');
  try {
    await requireAccountDisk(trx, context, { accountKey: ownerKey, bytes, what: 'This' });
  } catch (error) {
    throw own || !isQuota(error) ? error : refuse('disk_quota', 'The owner of the collection has no disk space left.');
  }
}

function isQuota(error: unknown): error is RefusalError {
  return error instanceof RefusalError && error.refusal.code === 'disk_quota';
}

export type ReadContext = Pick<CoreContext, 'database' | 'clock'> & FarContext;

/**
 * The bytes of a body, as a whole: what takes its place meanwhile, or is deleted, leaves it to those who read it already. Only with
 * all data of an app, a collection or an account does it go at once, which breaks the stream off.
 *
 * @returns `undefined` when it is gone already
 */
export async function openBody(
  context: ReadContext,
  { id, size }: { readonly id: string; readonly size: number },
): Promise<Readable | undefined> {
  // What is one piece is read at once.
  const hold = () => holdBody(context.database, id, new Date(context.clock().getTime() + READING_MILLISECONDS));
  if (size > PIECE && !(await hold())) return undefined;
  const far = new FarPieces(context);
  const isWhole = size <= PIECE;
  try {
    const first = size === 0 ? Buffer.alloc(0) : await readPiece(context, far, { id, number: 0 });
    if (first === undefined || isWhole) await far.close();
    return (
      first && Readable.from(isWhole ? [first] : pieces(context, { id, size, first, hold, far }), { objectMode: false })
    );
  } catch (error) {
    await far.close();
    throw error;
  }
}

/**
 * @returns `undefined` when it is gone
 * @throws RefusalError `unavailable` where the object store does not have it, or does not answer
 */
async function readPiece(
  { database }: ReadContext,
  far: FarPieces,
  { id, number }: { readonly id: string; readonly number: number },
): Promise<Buffer | undefined> {
  const row = await selectPiece(database, id, number);
  if (row?.object_key == null || row.sha256 === null) return row?.bytes ?? undefined;
  const bytes = await far.get(row.object_key, row.sha256, LARGEST_PIECE);
  if (bytes !== undefined) return bytes;
  // Deleted meanwhile, or lost by the store: absence there says nothing of what there should be.
  if ((await selectPiece(database, id, number)) === undefined) return undefined;
  throw refuse('unavailable', 'The object store of this platform does not have this any more. Tell its operator.');
}

interface Reading {
  readonly id: string;
  readonly size: number;
  readonly first: Buffer;
  readonly hold: () => Promise<boolean>;
  readonly far: FarPieces;
}

async function* pieces(context: ReadContext, { id, size, first, hold, far }: Reading): AsyncGenerator<Buffer> {
  const { clock } = context;
  let held = clock().getTime();
  let read = first.length;
  try {
    yield first;
    for (let number = 1; read < size; number += 1) {
      const now = clock().getTime();
      if (Math.abs(now - held) >= READING_MILLISECONDS / 4) {
        held = now;
        await hold();
      }
      const piece = await readPiece(context, far, { id, number });
      if (piece === undefined) throw new Error('the bytes were deleted while they were read');
      read += piece.length;
      yield piece;
    }
  } finally {
    await far.close();
  }
}
