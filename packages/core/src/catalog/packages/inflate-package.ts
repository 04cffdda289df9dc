// Unpacks the one gzip member of an upload as a stream, within limits that hold while it runs, so that a bomb
// stops early however small its upload is.
import type { TransformOptions } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32, createInflateRaw, type ZlibOptions } from 'node:zlib';
import { limits, MiB, sizeText } from '@platform/contract';
import { checkGzipTrailer, GZIP_TRAILER_BYTES, gzipHeaderLength } from './gzip-header.ts';
import { packageFault } from './package-fault.ts';

/** Small files compress as they like; only beyond this much is the ratio a sign of a bomb. */
const RATIO_FREE = 64 * MiB;

// Not destroyed by itself: the trailer still arrives after the compressed data has ended.
const INFLATE: ZlibOptions & TransformOptions = { chunkSize: 64 * 1024, autoDestroy: false };

/**
 * Hands the unpacked bytes of `source` to `consume`, chunk by chunk, with backpressure.
 *
 * @returns how many they are
 * @throws RefusalError when `source` is not exactly one intact gzip member, or unpacks to more than
 *   `limits.packageUnpacked` or `limits.packageRatio` allow
 */
export async function inflatePackage(
  source: AsyncIterable<Buffer>,
  consume: (unpacked: AsyncIterable<Buffer>) => Promise<void>,
): Promise<number> {
  const inflate = createInflateRaw(INFLATE);
  const packed = { size: 0, headerSize: 0, tail: Buffer.alloc(0) };
  const unpacked = { size: 0, crc: 0 };

  async function* measurePacked(): AsyncGenerator<Buffer> {
    for await (const chunk of source) {
      packed.size += chunk.length;
      packed.tail = Buffer.concat([packed.tail, chunk.subarray(-GZIP_TRAILER_BYTES)]).subarray(-GZIP_TRAILER_BYTES);
      yield chunk;
    }
  }

  async function* measureUnpacked(): AsyncGenerator<Buffer> {
    for await (const chunk of inflate as AsyncIterable<Buffer>) {
      unpacked.size += chunk.length;
      unpacked.crc = crc32(chunk, unpacked.crc);
      checkVolume(unpacked.size, packed.size);
      yield chunk;
    }
  }

  try {
    const bare = dropHeader(measurePacked(), (size) => {
      packed.headerSize = size;
    });
    await pipeline(bare, inflate, () => consume(measureUnpacked()));
  } catch (error) {
    throw isZlibError(error) ? packageFault('The gzip file is damaged or cut short.') : error;
  } finally {
    inflate.destroy();
  }
  const after = packed.size - packed.headerSize - inflate.bytesWritten;
  if (after < GZIP_TRAILER_BYTES) throw packageFault('The gzip file is cut short.');
  if (after > GZIP_TRAILER_BYTES) throw packageFault('There is more data after the end of the gzip file.');
  checkGzipTrailer(packed.tail, unpacked);
  return unpacked.size;
}

async function* dropHeader(source: AsyncIterable<Buffer>, onSize: (size: number) => void): AsyncGenerator<Buffer> {
  let head: Buffer | null = Buffer.alloc(0);
  for await (const chunk of source) {
    if (head === null) {
      yield chunk;
      continue;
    }
    head = Buffer.concat([head, chunk]);
    const length = gzipHeaderLength(head);
    if (length === null) continue;
    onSize(length);
    if (head.length > length) yield head.subarray(length);
    head = null;
  }
  if (head !== null) throw packageFault(head.length === 0 ? 'The package is empty.' : 'The gzip file is cut short.');
}

function checkVolume(unpacked: number, packed: number): void {
  if (unpacked > limits.packageUnpacked.value)
    throw packageFault(`The package unpacks to more than ${sizeText(limits.packageUnpacked.value)}.`);
  if (unpacked > RATIO_FREE && unpacked > packed * limits.packageRatio.value)
    throw packageFault(`The package unpacks to more than ${limits.packageRatio.value} times its size.`);
}

function isZlibError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('Z_');
}
