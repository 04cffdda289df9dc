// Watches an upload while it is received: it stops before it takes the disk's reserve, and when it is more than its
// sender may still store.
import { Readable } from 'node:stream';
import type { RefusalError } from '@platform/contract';
import { isDiskFull } from '../config/disk-space.ts';

export interface GuardedUpload {
  /** The upload; it breaks off with the code `EDQUOT` once there is a refusal. */
  readonly source: Readable;
  /** Why it was broken off; `undefined` while it was not. */
  readonly refusal: () => RefusalError | undefined;
}

export interface UploadGuard {
  /** Bytes; `exceeded` is the refusal of more. */
  readonly most: number;
  readonly exceeded: () => RefusalError;
  /** The refusal when the disk has only its reserve left. */
  readonly diskFull: () => RefusalError;
}

/** The upload, chunk by chunk; a reader that stops early does not destroy the stream. */
export function bytesOf(source: Readable): AsyncIterableIterator<Buffer> {
  return source.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>;
}

/**
 * Asked again for each piece, since a few packed bytes may unpack to many, and others fill the disk too.
 *
 * @param source never destroyed, so that the refusal can still be answered
 * @param folder where the upload is stored
 */
export function guardUpload(
  source: Readable,
  folder: string,
  { most, exceeded, diskFull }: UploadGuard,
): GuardedUpload {
  let refusal: RefusalError | undefined;
  async function* pieces(): AsyncGenerator<Buffer> {
    let bytes = 0;
    for await (const piece of bytesOf(source)) {
      bytes += piece.length;
      if (bytes > most) refusal = exceeded();
      else if (isDiskFull(folder)) refusal = diskFull();
      if (refusal !== undefined) throw Object.assign(new Error('the upload was refused'), { code: 'EDQUOT' });
      yield piece;
    }
  }
  const guarded = Readable.from(pieces());
  // The reader gets the error; it must not end the process when nobody reads any more.
  guarded.on('error', () => undefined);
  return { source: guarded, refusal: () => refusal };
}
