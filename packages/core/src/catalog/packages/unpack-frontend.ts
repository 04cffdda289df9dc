// Reads the frontend of a stored package: one that was checked when it was published, so that nothing of it is judged again by
// rules that are newer than it.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { FrontendDigest } from './frontend-digest.ts';
import { FrontendWriter } from './frontend-writer.ts';
import { inflatePackage } from './inflate-package.ts';
import { readTarEntries, type TarEntry } from './tar-entries.ts';

export interface ReadFrontend {
  /** SHA-256 of the package as it was read, hexadecimal. */
  readonly hash: string;
  /** As `FrontendDigest`. */
  readonly digest: string;
}

interface FrontendTaker {
  folder(name: string): Promise<void>;
  file(name: string, body: AsyncIterable<Buffer>): Promise<void>;
}

/**
 * Resolves when all of it is on the disk.
 *
 * @param file the stored package
 * @param folder for the contents of its `frontend/`; must not exist
 * @throws RefusalError for a file that is no package; Error when it cannot be read, or the disk is full
 */
export async function unpackFrontend(file: string, folder: string): Promise<ReadFrontend> {
  const writer = new FrontendWriter(folder);
  const hash = await readFrontend(file, writer).finally(() => writer.finish());
  return { hash, digest: writer.digest.value() };
}

/** The same without writing anything. */
export async function digestOfPackage(file: string): Promise<ReadFrontend> {
  const digest = new FrontendDigest();
  const hash = await readFrontend(file, {
    folder: async () => undefined,
    async file(name, body) {
      for await (const _ of digest.take(name, body));
    },
  });
  return { hash, digest: digest.value() };
}

/** @returns the hash of the package */
async function readFrontend(file: string, taker: FrontendTaker): Promise<string> {
  const hash = createHash('sha256');
  async function* hashed(): AsyncGenerator<Buffer> {
    for await (const piece of createReadStream(file) as AsyncIterable<Buffer>) {
      hash.update(piece);
      yield piece;
    }
  }
  await inflatePackage(hashed(), async (unpacked) => {
    for await (const entry of readTarEntries(unpacked)) await takeFrontend(entry, taker);
  });
  return hash.digest('hex');
}

/** Hands the entry over if it is a part of the frontend that may be served. */
export async function takeFrontend(entry: TarEntry, taker: FrontendTaker): Promise<void> {
  // Dotfiles are never served (contract, HTTP conventions), so they stay in the archive; `.well-known` is no such file.
  if (!entry.name.startsWith('frontend/') || /\/\./.test(entry.name.replace(/^frontend\/\.well-known/, ''))) return;
  const name = entry.name.slice('frontend/'.length);
  if (entry.kind === 'folder') await taker.folder(name);
  else await taker.file(name, entry.body);
}
