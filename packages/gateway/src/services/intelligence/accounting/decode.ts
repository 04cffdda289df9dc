// Answers that a provider compressed though it was not asked to.
import { promisify } from 'node:util';
import * as zlib from 'node:zlib';

type Decode = (bytes: Buffer, options: zlib.ZlibOptions & zlib.BrotliOptions & zlib.ZstdOptions) => Promise<Buffer>;

const gunzip: Decode = promisify(zlib.gunzip);
const decoders = new Map<string, readonly [Decode, object]>([
  ['gzip', [gunzip, { finishFlush: zlib.constants.Z_SYNC_FLUSH }]],
  ['x-gzip', [gunzip, { finishFlush: zlib.constants.Z_SYNC_FLUSH }]],
  ['deflate', [promisify(zlib.inflate), { finishFlush: zlib.constants.Z_SYNC_FLUSH }]],
  ['br', [promisify(zlib.brotliDecompress), { finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH }]],
  ['zstd', [promisify(zlib.zstdDecompress), { finishFlush: zlib.constants.ZSTD_e_flush }]],
]);

/** Whether nothing was done to the bytes. */
export function isPlain(coding: string | undefined): boolean {
  return coding === undefined || coding.trim() === '' || coding.trim().toLowerCase() === 'identity';
}

/**
 * The bytes as they were before, also of an answer that was cut off.
 *
 * @returns `null` when the coding is not known, the bytes are not in it, or more than `most` come out
 */
export async function decoded(bytes: Buffer, coding: string, most: number): Promise<Buffer | null> {
  const decoder = decoders.get(coding.trim().toLowerCase());
  if (decoder === undefined) return null;
  const [decode, options] = decoder;
  try {
    return await decode(bytes, { ...options, maxOutputLength: most });
  } catch {
    return null;
  }
}
