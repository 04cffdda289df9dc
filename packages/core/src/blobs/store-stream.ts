// Writes a stream to a file, and hashes and counts it on the way.
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';

export interface StoredBytes {
  /** SHA-256, hexadecimal. */
  readonly hash: string;
  /** In bytes. */
  readonly size: number;
}

export interface StoreRules {
  /** Bytes; `exceeded` makes the error for more, which is thrown before they are written. */
  readonly limit: number;
  readonly exceeded: () => Error;
  /**
   * Sees the bytes as they are stored, and sets the pace. What it does not read is not stored, so it reads to the end unless
   * it throws. Default: nobody looks.
   */
  readonly consume?: (bytes: AsyncIterable<Buffer>) => Promise<void>;
}

/**
 * Resolves when all of it is on the disk.
 *
 * @param file must not exist; readable for its owner only
 */
export async function storeStream(
  source: AsyncIterable<Buffer>,
  file: string,
  { limit, exceeded, consume = drain }: StoreRules,
): Promise<StoredBytes> {
  const hash = createHash('sha256');
  let size = 0;
  const handle = await open(file, 'wx', 0o600);
  async function* store(): AsyncGenerator<Buffer> {
    for await (const chunk of source) {
      size += chunk.length;
      if (size > limit) throw exceeded();
      hash.update(chunk);
      await handle.writeFile(chunk);
      yield chunk;
    }
  }
  try {
    await consume(store());
    await handle.sync();
  } finally {
    await handle.close();
  }
  return { hash: hash.digest('hex'), size };
}

async function drain(bytes: AsyncIterable<Buffer>): Promise<void> {
  for await (const _chunk of bytes);
}
