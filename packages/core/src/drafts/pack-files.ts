// Packs the files that an app hands in, as `platform package` packs a folder: the same files give the same bytes.
import { buffer } from 'node:stream/consumers';
import { createGzip } from 'node:zlib';
import { inPackageOrder, limits, PACKAGE_COMPRESSION, packageEntry } from '@platform/contract';
import { pack } from 'tar-stream';

export type Files = Readonly<Record<string, string>>;

export function packFiles(files: Files): Promise<Buffer> {
  const archive = pack();
  const named = Object.entries(files).map(([name, text]) => ({ name, bytes: Buffer.from(text) }));
  for (const { name, bytes } of inPackageOrder(named)) archive.entry(packageEntry(name, bytes.length), bytes);
  archive.finalize();
  return buffer(archive.pipe(createGzip(PACKAGE_COMPRESSION)));
}

/** Bytes of all files together, and of their names. */
export function bytesOfFiles(files: Files): number {
  return Object.entries(files).reduce(
    (sum, [name, text]) => sum + Buffer.byteLength(name) + Buffer.byteLength(text),
    0,
  );
}

export interface MadePackage {
  readonly files: Files;
  /** As the manifest says; empty where it says none. */
  readonly version: string;
  /** It asks for another visibility. */
  readonly isPublic: boolean;
}

/**
 * What is packed: the files, whose manifest says that the app is private. A manifest that is none stays as it is, and is refused with the
 * package.
 */
export function asPrivate(files: Files): MadePackage {
  const text = Object.hasOwn(files, 'manifest.json') ? (files['manifest.json'] ?? '') : '';
  const manifest = membersOf(text);
  if (manifest === null) return { files, version: '', isPublic: false };
  const version = typeof manifest.version === 'string' ? manifest.version : '';
  if (Object.hasOwn(manifest, 'visibility')) return { files, version, isPublic: manifest.visibility !== 'private' };
  // Put into the text, so that everything else stays as its author wrote it, and what is wrong with it too.
  const changed = text.replace('{', '{\n  "visibility": "private",');
  return { files: { ...files, 'manifest.json': changed }, version, isPublic: false };
}

/** @returns `null` for what is no object with members */
function membersOf(text: string): Readonly<Record<string, unknown>> | null {
  if (text.length > limits.manifestSize.value) return null;
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject && Object.keys(value).length > 0 ? (value as Readonly<Record<string, unknown>>) : null;
  } catch {
    return null;
  }
}
