// The files of a package as text, for a person who reads them before they install it.
import { MiB } from '@platform/contract';
import { inflatePackage } from './inflate-package.ts';
import { readTarEntries } from './tar-entries.ts';

/** A file of a package, for a person. */
export interface PackagedFile {
  readonly path: string;
  readonly bytes: number;
  /** `null` for what is no text, or too long to be read. */
  readonly text: string | null;
}

/** Of all files together. */
const MOST_TEXT = 8 * MiB;
const STRICT_UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** @param source the package, which was verified before. @returns its files by name, the manifest first */
export async function readPackagedFiles(source: AsyncIterable<Buffer>): Promise<PackagedFile[]> {
  const files: PackagedFile[] = [];
  let left = MOST_TEXT;
  await inflatePackage(source, async (unpacked) => {
    for await (const { name, kind, size, body } of readTarEntries(unpacked)) {
      if (kind !== 'file') continue;
      const text = size <= left ? await textOf(body) : null;
      if (text !== null) left -= size;
      files.push({ path: name, bytes: size, text });
    }
  });
  return files;
}

async function textOf(body: AsyncIterable<Buffer>): Promise<string | null> {
  const parts: Buffer[] = [];
  for await (const part of body) parts.push(Buffer.from(part));
  const bytes = Buffer.concat(parts);
  if (bytes.includes(0)) return null;
  try {
    return STRICT_UTF8.decode(bytes);
  } catch {
    return null;
  }
}
