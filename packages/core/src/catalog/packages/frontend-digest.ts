// By what an unpacked frontend is recognised: one hash over names and contents of all files that are served. It is recorded
// when a package is published, for its own hash says nothing of what lies unpacked beside it.
import { createHash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import * as path from 'node:path';
import { isServed, servedNames } from './served-files.ts';

export class FrontendDigest {
  /** A name has no line break, as `checkPackageName` sees to. */
  readonly #lines: string[] = [];

  /** The same bytes, whose hash is taken on the way. @param name relative to `frontend/` */
  async *take(name: string, body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const hash = createHash('sha256');
    for await (const piece of body) {
      hash.update(piece);
      yield piece;
    }
    if (isServed(name)) this.#lines.push(`${hash.digest('hex')} ${name}\n`);
  }

  /** SHA-256, hexadecimal; the order in which files came makes no difference. */
  value(): string {
    const hash = createHash('sha256');
    for (const line of this.#lines.sort()) hash.update(line);
    return hash.digest('hex');
  }
}

/**
 * Of an unpacked frontend on the disk.
 *
 * @param folder `frontend/`
 * @returns `null` when it is not there
 */
export async function digestOfFolder(folder: string): Promise<string | null> {
  const digest = new FrontendDigest();
  try {
    for await (const name of servedNames(folder)) {
      // A link that took the place of a file since the folder was read is not followed.
      const file = await open(path.join(folder, name), constants.O_RDONLY | constants.O_NOFOLLOW);
      for await (const _ of digest.take(name, file.createReadStream()));
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
  return digest.value();
}

/** SHA-256 of a file, hexadecimal, and its size. @throws Error when it cannot be read */
export async function hashOfFile(file: string): Promise<{ readonly hash: string; readonly size: number }> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const piece of createReadStream(file) as AsyncIterable<Buffer>) {
    hash.update(piece);
    size += piece.length;
  }
  return { hash: hash.digest('hex'), size };
}
