// One layer of an image, read entry by entry and written anew, so that the engine unpacks what was counted here and nothing that
// it alone would have found: readers of tar differ in sparse files, in bodies of links and in what a global header changes.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract, type Header, type Pack } from 'tar-stream';
import type { ArchiveEntry } from './image-archive.ts';
import { ImageArchiveError } from './image-archive-error.ts';

/** Of the file systems on which engines keep images. */
const BLOCK_BYTES = 4_096;
const GZIP = '1f8b';
/** Other compressions that engines undo. */
const STRANGE: Readonly<Record<string, string>> = { '425a68': 'bzip2', fd377a58: 'xz', '28b52ffd': 'zstd' };
const MAGIC_BYTES = 4;
const LARGEST_TIME = 2 ** 31 - 1;
/** The largest number that a field of eight octal digits holds as tar-stream writes it. */
const LARGEST_ID = 0o777777;

const KINDS = {
  file: 'file',
  'contiguous-file': 'file',
  directory: 'directory',
  link: 'link',
  symlink: 'symlink',
  fifo: 'fifo',
} as const;

export interface LayerMeter {
  /** Bytes of the layer before it was compressed, as they come. */
  read(bytes: Buffer): void;
  /** What one entry takes on the disk, the folders that it alone brings included. @throws when that is too much */
  entry(taken: { readonly files: number; readonly diskBytes: number }): void;
}

/**
 * @param blob the layer as it stands in the archive, plain or compressed with gzip
 * @param target gets its entries: files, folders, links and pipes; devices, which no workload may open, are left out, and so are
 *   extended attributes, of which only file capabilities matter to a workload, which cannot use them
 * @throws ImageArchiveError for what is no such layer
 */
export async function rewriteLayer(blob: AsyncIterable<unknown>, target: Pack, meter: LayerMeter): Promise<void> {
  const archive = extract();
  const plain = async function* (bytes: AsyncIterable<Buffer>) {
    for await (const piece of bytes) {
      meter.read(piece);
      yield piece;
    }
  };
  // A failure ends the loop below as well.
  const read = inflated(blob)
    .then((stream) => pipeline(stream, plain, archive))
    .catch((error: unknown) => archive.destroy(error instanceof Error ? error : new Error(String(error))));
  let former: readonly string[] = [];
  for await (const entry of archive) {
    const { header } = entry;
    const kind = kindOf(header);
    const path = pathOf(header.name);
    const files = newFolders(former, path) + 1;
    meter.entry({ files, diskBytes: files * BLOCK_BYTES + roundUp(kind === 'file' ? (header.size ?? 0) : 0) });
    former = path;
    if (kind === undefined || path.length === 0) entry.resume();
    else await write(entry, target, { header, kind, name: path.join('/') });
  }
  await read;
}

/** `undefined`: a device. */
function kindOf({ name, type, size, pax }: Header): (typeof KINDS)[keyof typeof KINDS] | undefined {
  const says = (why: string) =>
    new ImageArchiveError(`has an entry that ${why}: ${JSON.stringify(name.slice(0, 100))}.`);
  if (Object.keys(pax ?? {}).some((key) => key.startsWith('GNU.sparse.')))
    throw says('is a sparse file, which takes more than the archive says');
  const isDevice = type === 'character-device' || type === 'block-device';
  const kind = KINDS[type as keyof typeof KINDS];
  if (kind === undefined && !isDevice) throw says('is no file, folder or link');
  if (kind !== 'file' && (size ?? 0) > 0) throw says('has content without being a file');
  return kind;
}

/** As engines take it: below the root of the image. */
function pathOf(name: string): string[] {
  const segments = name.split('/').filter((segment) => segment !== '' && segment !== '.');
  if (segments.includes('..')) throw new ImageArchiveError('has an entry whose path goes up.');
  return segments;
}

/** Folders on the way to `path` that the entry before it did not have; most layers have an entry for each. */
function newFolders(former: readonly string[], path: readonly string[]): number {
  const folders = path.slice(0, -1);
  const known = folders.findIndex((segment, index) => segment !== former[index]);
  return known === -1 ? 0 : folders.length - known;
}

const roundUp = (bytes: number): number => Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES;

interface Entry {
  readonly header: Header;
  readonly kind: (typeof KINDS)[keyof typeof KINDS];
  readonly name: string;
}

async function write(body: ArchiveEntry, target: Pack, { header, kind, name }: Entry): Promise<void> {
  const { mode = 0, size = 0, linkname, mtime } = header;
  const [uid, gid] = [idOf(header, 'uid'), idOf(header, 'gid')];
  const seconds = Math.floor((mtime?.getTime() ?? 0) / 1_000);
  const large = Object.entries({ uid, gid }).filter(([, id]) => id > LARGEST_ID);
  const sink = target.entry({
    name: kind === 'directory' ? `${name}/` : name,
    type: kind,
    // With a bit that is not written: without any, tar-stream would take a mode of its own choice.
    mode: mode | 0o100_000,
    uid,
    gid,
    mtime: new Date(Math.min(LARGEST_TIME, Math.max(0, seconds || 0)) * 1_000),
    ...(kind === 'file' ? { size } : {}),
    ...(kind === 'link' || kind === 'symlink' ? { linkname: linkname ?? '' } : {}),
    ...(large.length === 0 ? {} : { pax: Object.fromEntries(large.map(([field, id]) => [field, String(id)])) }),
  });
  if (kind === 'file') await pipeline(body, sink);
  else body.resume();
}

/** A number that does not fit its field stands in a record of its own. */
function idOf(header: Header, field: 'uid' | 'gid'): number {
  const records: Readonly<Record<string, unknown>> = { ...(header.pax ?? {}) };
  const id = Number(records[field] ?? header[field] ?? 0);
  if (!Number.isSafeInteger(id) || id < 0 || id >= 2 ** 32)
    throw new ImageArchiveError('has an entry without an owner.');
  return id;
}

/** The layer before it was compressed, told by its first bytes however they come. */
async function inflated(blob: AsyncIterable<unknown>): Promise<Readable> {
  const pieces = (blob as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  while (head.length < MAGIC_BYTES) {
    const { done, value } = await pieces.next();
    if (done === true) break;
    head = Buffer.concat([head, value]);
  }
  const whole = Readable.from(
    (async function* () {
      if (head.length > 0) yield head;
      yield* { [Symbol.asyncIterator]: () => pieces };
    })(),
  );
  const magic = head.toString('hex');
  const strange = Object.entries(STRANGE).find(([begin]) => magic.startsWith(begin));
  if (strange !== undefined) {
    whole.destroy();
    throw new ImageArchiveError(`is compressed with ${strange[1]}, in another way than gzip.`);
  }
  if (!magic.startsWith(GZIP)) return whole;
  const plain = createGunzip();
  // Its failure is that of what is returned, which the caller reads.
  pipeline(whole, plain).catch(() => undefined);
  return plain;
}
