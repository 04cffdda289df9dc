// Reads the entries of a tar stream one after the other, strictly, with bounded memory.
import { packageFault, quoted } from './package-fault.ts';
import { checkPackageName } from './package-names.ts';
import { parsePaxRecords } from './pax-records.ts';
import { isZero, parseTarHeader, TAR_BLOCK_BYTES, type TarHeader } from './tar-header.ts';

export interface TarEntry {
  /** Checked, without a leading `./` or a trailing slash. */
  readonly name: string;
  readonly kind: 'file' | 'folder';
  readonly size: number;
  /** The contents; what is not read is skipped when the next entry is requested. */
  readonly body: AsyncIterable<Buffer>;
}

/** What `tar -C app .` puts before each name, and names the packed folder itself with. */
const CURRENT_FOLDER = './';

/** A pax or GNU long-name header: a path and a few numbers, never more. */
const LONGEST_EXTENSION = 64 * 1024;

/**
 * Regular files and folders only, and the packed folder itself (`./`) left out. Modes, owners and times of the
 * archive are dropped.
 *
 * @param source the unpacked tar stream, in chunks of any size
 * @throws RefusalError for anything but plain entries followed by the end mark
 */
export async function* readTarEntries(source: AsyncIterable<Buffer>): AsyncGenerator<TarEntry> {
  const input = new BlockReader(source);
  const extension = new Extension();
  let rootSeen = false;
  for (;;) {
    const block = await input.take(TAR_BLOCK_BYTES);
    if (isZero(block)) break;
    const header = parseTarHeader(block);
    if (extension.takes(header)) {
      extension.add(header, await takeExtension(input, header));
      continue;
    }
    const entry = describe(header, extension);
    extension.clear();
    if (entry.name === '') {
      if (rootSeen) throw packageFault('The archive contains the folder "./" twice.');
      rootSeen = true;
      continue;
    }
    const body = new EntryBody(input, entry.size);
    yield { ...entry, body };
    for await (const _ of body);
    await input.take(padding(entry.size));
  }
  if (!extension.empty) throw packageFault('The archive ends after an extended header, without its entry.');
  await expectEnd(input);
}

function padding(size: number): number {
  return (TAR_BLOCK_BYTES - (size % TAR_BLOCK_BYTES)) % TAR_BLOCK_BYTES;
}

async function takeExtension(input: BlockReader, header: TarHeader): Promise<Buffer> {
  if (header.size > LONGEST_EXTENSION) throw packageFault('An extended header in the archive is too long.');
  const bytes = await input.take(header.size);
  await input.take(padding(header.size));
  return bytes;
}

/** What precedes an entry and changes how it is read. */
class Extension {
  path: Buffer | undefined;
  size: number | undefined;
  empty = true;

  takes({ typeflag }: TarHeader): boolean {
    return typeflag === 'x' || typeflag === 'g' || typeflag === 'L';
  }

  add({ typeflag }: TarHeader, bytes: Buffer): void {
    if (typeflag === 'g') {
      parsePaxRecords(bytes, 'global');
      return;
    }
    // A second one would replace or join the first, depending on the reader.
    if (!this.empty) throw packageFault('An entry of the archive has two extended headers.');
    this.empty = false;
    if (typeflag === 'x') {
      const { path, size } = parsePaxRecords(bytes, 'entry');
      this.path = path;
      this.size = size;
      return;
    }
    if (bytes.at(-1) !== 0 || bytes.indexOf(0) !== bytes.length - 1)
      throw packageFault('A long name in the archive is malformed.');
    this.path = bytes.subarray(0, -1);
  }

  clear(): void {
    this.path = undefined;
    this.size = undefined;
    this.empty = true;
  }
}

const REFUSED_TYPES: Readonly<Record<string, string>> = {
  '1': 'a hard link',
  '2': 'a symbolic link',
  '3': 'a device',
  '4': 'a device',
  '6': 'a pipe',
  K: 'a link',
  S: 'a sparse file',
};

/** The entry of a header; the name is empty for the packed folder itself. */
function describe(header: TarHeader, extension: Extension): Omit<TarEntry, 'body'> {
  const raw = extension.path ?? header.name;
  const kind = header.typeflag === '0' || header.typeflag === '\0' ? 'file' : header.typeflag === '5' ? 'folder' : null;
  if (kind === null) {
    const what = REFUSED_TYPES[header.typeflag] ?? `an entry of the unknown type ${quoted(header.typeflag)}`;
    throw packageFault(`The archive contains ${what} (${quoted(raw)}). A package is made of files and folders only.`);
  }
  const name = kind === 'folder' && isCurrentFolder(raw) ? '' : checkPackageName(bareName(raw, kind));
  if (kind === 'folder' && header.size !== 0) throw packageFault(`The folder ${quoted(name)} has a size.`);
  if (extension.size !== undefined && extension.size !== header.size)
    throw packageFault(`The archive names two sizes for ${quoted(name)}.`);
  return { name, kind, size: header.size };
}

function isCurrentFolder(raw: Buffer): boolean {
  const name = raw.toString('latin1');
  return name === CURRENT_FOLDER || name === '.';
}

/** Without one leading `./`, and without the slash that ends the name of a folder; all the rest must be plain. */
function bareName(raw: Buffer, kind: TarEntry['kind']): Buffer {
  const start = raw.toString('latin1', 0, CURRENT_FOLDER.length) === CURRENT_FOLDER ? CURRENT_FOLDER.length : 0;
  const end = kind === 'folder' && raw.at(-1) === 0x2f ? raw.length - 1 : raw.length;
  return raw.subarray(start, end);
}

/** Requires a second block of zeros and only zeros after it: a lenient reader would take other bytes for entries. */
async function expectEnd(input: BlockReader): Promise<void> {
  let blocks = 1;
  for (let rest = await input.next(); rest !== null; rest = await input.next()) {
    if (!isZero(rest)) throw packageFault('The archive has more data after its end mark.');
    blocks += rest.length / TAR_BLOCK_BYTES;
  }
  if (blocks < 2 || !Number.isInteger(blocks)) throw packageFault('The archive ends before its end mark.');
}

/** Cuts a stream of chunks into the lengths that the format asks for. */
class BlockReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #held: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#chunks = source[Symbol.asyncIterator]();
  }

  /** Whatever comes next, or `null` at the end. */
  async next(): Promise<Buffer | null> {
    while (this.#held.length === 0) {
      const { done, value } = await this.#chunks.next();
      if (done === true) return null;
      this.#held = value;
    }
    const chunk = this.#held;
    this.#held = Buffer.alloc(0);
    return chunk;
  }

  /** Between 1 and `most` bytes. */
  async upTo(most: number): Promise<Buffer> {
    const chunk = await this.next();
    if (chunk === null) throw packageFault('The archive ends in the middle of an entry.');
    const piece = chunk.subarray(0, most);
    this.#held = chunk.subarray(piece.length);
    return piece;
  }

  /** Exactly `length` bytes. */
  async take(length: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (let missing = length; missing > 0; ) {
      const piece = await this.upTo(missing);
      parts.push(piece);
      missing -= piece.length;
    }
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
  }
}

/** The contents of one entry; iterating again continues where the last iteration stopped. */
class EntryBody implements AsyncIterable<Buffer> {
  readonly #input: BlockReader;
  #missing: number;

  constructor(input: BlockReader, size: number) {
    this.#input = input;
    this.#missing = size;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    while (this.#missing > 0) {
      const piece = await this.#input.upTo(this.#missing);
      this.#missing -= piece.length;
      yield piece;
    }
  }
}
