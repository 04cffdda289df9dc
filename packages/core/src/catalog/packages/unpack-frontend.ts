// Unpacks the frontend of a stored package: one that was checked when it was published, so that nothing of it is judged again
// by rules that are newer than it.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { FrontendWriter } from './frontend-writer.ts';
import { inflatePackage } from './inflate-package.ts';
import { readTarEntries, type TarEntry } from './tar-entries.ts';

export interface UnpackedFrontend {
  /** SHA-256 of the package as it was read, hexadecimal. */
  readonly hash: string;
  /** As `FrontendDigest`. */
  readonly digest: string;
}

/**
 * Resolves when all of it is on the disk.
 *
 * @param file the stored package
 * @param folder for the contents of its `frontend/`; must not exist
 * @throws RefusalError for a file that is no package; Error when it cannot be read, or the disk is full
 */
export async function unpackFrontend(file: string, folder: string): Promise<UnpackedFrontend> {
  const writer = new FrontendWriter(folder);
  const hash = createHash('sha256');
  async function* hashed(): AsyncGenerator<Buffer> {
    for await (const piece of createReadStream(file) as AsyncIterable<Buffer>) {
      hash.update(piece);
      yield piece;
    }
  }
  await inflatePackage(hashed(), async (unpacked) => {
    try {
      for await (const entry of readTarEntries(unpacked)) await unpackEntry(entry, writer);
    } finally {
      await writer.finish();
    }
  });
  return { hash: hash.digest('hex'), digest: writer.digest.value() };
}

/** Writes the entry if it is a part of the frontend that may be served. */
export async function unpackEntry(entry: TarEntry, writer: FrontendWriter): Promise<void> {
  // Dotfiles are never served (contract, HTTP conventions), so they stay in the archive; `.well-known` is no such file.
  if (!entry.name.startsWith('frontend/') || /\/\./.test(entry.name.replace(/^frontend\/\.well-known/, ''))) return;
  const name = entry.name.slice('frontend/'.length);
  if (entry.kind === 'folder') await writer.folder(name);
  else await writer.file(name, entry.body);
}
