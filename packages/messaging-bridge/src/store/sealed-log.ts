// A file of sealed records, one after the other: what was appended is on the disk when `append` resolves. A record that a
// crash tore off is dropped; anything else that is not as it was written is refused, never skipped.
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import * as path from 'node:path';

/** The store holds something that nobody with its key wrote, or is opened with another key. */
export class DamagedStoreError extends Error {}

export interface SealedLog {
  /** Resolves when the record is on the disk. After a failure the file is as it was before. */
  append(record: Buffer): Promise<void>;
  /** Puts one record in the place of all. */
  replace(record: Buffer): Promise<void>;
  /** Bytes of the file. */
  size(): number;
  close(): Promise<void>;
}

const MAGIC = Buffer.from('platform-bridge-log-1\n');
/** Names the file as it was first written: records of another one, also of the same account, open nothing in it. */
const GENERATION_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CHECK_BYTES = 16;
const HEAD_BYTES = 4 + NONCE_BYTES + CHECK_BYTES;
/** What a disk writes at once; a torn write leaves whole ones of them empty. */
const SECTOR_BYTES = 512;

/**
 * Opens a log, which is made where it is missing.
 *
 * @param key 32 bytes
 * @param onRecord gets every record in the order in which it was written
 * @throws DamagedStoreError
 */
export async function openSealedLog(file: string, key: Buffer, onRecord: (record: Buffer) => void): Promise<SealedLog> {
  // What a replacement left that did not come to its end.
  await rm(`${file}.new`, { force: true });
  const handle = await open(file, constants.O_RDWR | constants.O_CREAT, 0o600);
  try {
    const bytes = await handle.readFile();
    // Nothing is told of a file whose making was torn off.
    if (bytes.length < MAGIC.length + GENERATION_BYTES && isBeginOfFile(bytes)) {
      await handle.close();
      return opened(await begin(file, key));
    }
    const sealing = sealingOf(file, key, bytes);
    const { end, count } = readRecords(file, bytes, sealing, onRecord);
    if (end < bytes.length) {
      await handle.truncate(end);
      await handle.sync();
    }
    return opened({ file, key, handle, sealing, end, count });
  } catch (error) {
    await handle.close().catch(() => undefined);
    throw error;
  }
}

interface Sealing {
  readonly recordKey: Buffer;
  readonly checkKey: Buffer;
}

interface OpenFile {
  readonly file: string;
  readonly key: Buffer;
  readonly handle: FileHandle;
  readonly sealing: Sealing;
  readonly end: number;
  readonly count: number;
}

function isBeginOfFile(bytes: Buffer): boolean {
  const magic = bytes.subarray(0, MAGIC.length);
  return magic.equals(MAGIC.subarray(0, magic.length)) || isEmpty(bytes);
}

function sealingOf(file: string, key: Buffer, head: Buffer): Sealing {
  if (!head.subarray(0, MAGIC.length).equals(MAGIC))
    throw new DamagedStoreError(`${file} does not begin as a store does.`);
  const generation = head.subarray(MAGIC.length, MAGIC.length + GENERATION_BYTES);
  const derived = Buffer.from(hkdfSync('sha256', key, generation, MAGIC, 64));
  return { recordKey: derived.subarray(0, 32), checkKey: derived.subarray(32) };
}

/** Makes a file whose records have a key of their own, so that no nonce can meet one of a former file. */
async function begin(file: string, key: Buffer, first?: Buffer): Promise<OpenFile> {
  const fresh = `${file}.new`;
  const head = Buffer.concat([MAGIC, randomBytes(GENERATION_BYTES)]);
  const sealing = sealingOf(file, key, head);
  const bytes = first === undefined ? head : Buffer.concat([head, seal(sealing, 0, first)]);
  const handle = await open(fresh, 'w', 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
    await rename(fresh, file);
    const folder = await open(path.dirname(file), 'r');
    await folder.sync().finally(() => folder.close());
  } catch (error) {
    await handle.close();
    await rm(fresh, { force: true });
    throw error;
  }
  return { file, key, handle, sealing, end: bytes.length, count: first === undefined ? 0 : 1 };
}

function opened(start: OpenFile): SealedLog {
  let current = start;
  return {
    size: () => current.end,
    async append(record) {
      const { handle, sealing, end, count } = current;
      const frame = seal(sealing, count, record);
      try {
        await writeWhole(handle, frame, end);
        await handle.datasync();
      } catch (error) {
        // A part of it must not stand before what is appended next.
        await handle.truncate(end).catch(() => undefined);
        throw error;
      }
      current = { ...current, end: end + frame.length, count: count + 1 };
    },
    async replace(record) {
      const former = current.handle;
      current = await begin(current.file, current.key, record);
      await former.close();
    },
    close: () => current.handle.close(),
  };
}

async function writeWhole(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const { bytesWritten } = await handle.write(bytes, written, bytes.length - written, position + written);
    written += bytesWritten;
  }
}

/** Length, nonce, a check of both with the record's place, the sealed record, its tag. */
function seal(sealing: Sealing, count: number, record: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(record.length);
  const cipher = createCipheriv('aes-256-gcm', sealing.recordKey, nonce);
  cipher.setAAD(placeOf(count));
  const sealed = Buffer.concat([cipher.update(record), cipher.final()]);
  return Buffer.concat([length, nonce, checkOf(sealing, count, length, nonce), sealed, cipher.getAuthTag()]);
}

function placeOf(count: number): Buffer {
  const place = Buffer.alloc(8);
  place.writeBigUInt64BE(BigInt(count));
  return place;
}

/** Without it a length that was changed would look like a record that was torn off, and all behind it would be dropped. */
function checkOf(sealing: Sealing, count: number, length: Buffer, nonce: Buffer): Buffer {
  const mac = createHmac('sha256', sealing.checkKey).update(placeOf(count)).update(length).update(nonce);
  return mac.digest().subarray(0, CHECK_BYTES);
}

function readRecords(
  file: string,
  bytes: Buffer,
  sealing: Sealing,
  onRecord: (record: Buffer) => void,
): { readonly end: number; readonly count: number } {
  let at = MAGIC.length + GENERATION_BYTES;
  let count = 0;
  while (at < bytes.length) {
    const rest = bytes.subarray(at);
    if (rest.length < HEAD_BYTES) break;
    const length = rest.subarray(0, 4);
    const nonce = rest.subarray(4, 4 + NONCE_BYTES);
    const check = rest.subarray(4 + NONCE_BYTES, HEAD_BYTES);
    if (!timingSafeEqual(check, checkOf(sealing, count, length, nonce))) {
      // A file can have grown before anything was written to it.
      if (isEmpty(rest)) break;
      throw damaged(file, at);
    }
    const size = HEAD_BYTES + length.readUInt32BE() + TAG_BYTES;
    if (rest.length < size) break;
    const record = unseal(sealing, count, nonce, rest.subarray(HEAD_BYTES, size));
    if (record === null) {
      if (rest.length === size && hasEmptySector(rest.subarray(HEAD_BYTES), at + HEAD_BYTES)) break;
      throw damaged(file, at);
    }
    onRecord(record);
    at += size;
    count += 1;
  }
  return { end: at, count };
}

function unseal(sealing: Sealing, count: number, nonce: Buffer, sealed: Buffer): Buffer | null {
  const decipher = createDecipheriv('aes-256-gcm', sealing.recordKey, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(placeOf(count)).setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
  try {
    const opened = decipher.update(sealed.subarray(0, sealed.length - TAG_BYTES));
    return Buffer.concat([opened, decipher.final()]);
  } catch {
    return null;
  }
}

const damaged = (file: string, at: number) =>
  new DamagedStoreError(
    `${file} is not as it was written, from byte ${at}: it was changed, or is opened with another key.`,
  );

const isEmpty = (bytes: Buffer) => bytes.every((byte) => byte === 0);

/** Whether a sector of the disk, or the part of one that lies in `bytes`, was never written: no sealed bytes are all zero. */
function hasEmptySector(bytes: Buffer, offset: number): boolean {
  for (let at = 0; at < bytes.length; ) {
    const next = Math.min(bytes.length, at + SECTOR_BYTES - ((offset + at) % SECTOR_BYTES));
    if (next - at >= TAG_BYTES && isEmpty(bytes.subarray(at, next))) return true;
    at = next;
  }
  return false;
}
