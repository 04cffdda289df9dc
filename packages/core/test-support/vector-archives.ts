// Builds tar archives from descriptions, hostile ones included, for tests: header by header, since no packer
// writes what these need.
import { constants, crc32, deflateRawSync, gzipSync } from 'node:zlib';

/** One entry as package-archives.json describes it (`meta.fields` there). */
export interface EntryDescription {
  readonly type: string;
  readonly name?: string;
  readonly nameHex?: string;
  readonly namePattern?: string;
  readonly nameRepeat?: string;
  readonly repeat?: number;
  readonly viaPax?: boolean;
  readonly count?: number;
  readonly content?: string;
  readonly bytes?: Buffer;
  readonly repeatByte?: string;
  readonly size?: number;
  readonly declaredSize?: number;
  readonly sizeFieldRaw?: string;
  readonly sizeBase256?: string;
  readonly mode?: string;
  readonly uid?: number;
  readonly gid?: number;
  readonly uname?: string;
  readonly mtimeBase256?: string;
  readonly linkname?: string;
  readonly value?: string;
  readonly devmajor?: number;
  readonly devminor?: number;
  readonly badChecksum?: boolean;
  readonly ustarPrefix?: string;
  readonly pax?: Readonly<Record<string, string>>;
  readonly paxRawHex?: string;
}

export interface ArchiveDescription {
  readonly entries: readonly EntryDescription[];
  readonly compress?: string;
  readonly truncateAt?: number;
  readonly rawLength?: number;
  readonly gzipTrailing?: string;
  readonly dropManifest?: boolean;
}

const BLOCK = 512;
/** Of deflate (RFC 1951): empty, and the last one. */
const LAST_BLOCK = Buffer.from('0300', 'hex');
const FLAGS: Readonly<Record<string, string>> = {
  file: '0',
  hardlink: '1',
  symlink: '2',
  chr: '3',
  blk: '4',
  dir: '5',
  fifo: '6',
  contig: '7',
  'gnu-sparse': 'S',
  'gnu-longname': 'L',
  'gnu-longlink': 'K',
  'pax-global': 'g',
};

/** The pieces of the tar stream, end mark included. */
export function* tarOf(entries: readonly EntryDescription[]): Generator<Buffer> {
  for (const entry of entries) yield* entryOf(entry);
  yield Buffer.alloc(2 * BLOCK);
}

/** The upload: the archive in gzip, cut or damaged as described. Generated data is never held as a whole. */
export function archiveOf(archive: ArchiveDescription): Buffer {
  const entries = archive.dropManifest === true ? archive.entries.slice(1) : archive.entries;
  if (archive.rawLength !== undefined) return Buffer.alloc(archive.rawLength);
  const { truncateAt } = archive;
  const tar = truncateAt === undefined ? tarOf(entries) : [Buffer.concat([...tarOf(entries)]).subarray(0, truncateAt)];
  const gzip = gzipOf(tar);
  const packed = archive.compress === 'gzip-twice' ? gzipSync(gzip) : gzip;
  return Buffer.concat([packed, Buffer.from(archive.gzipTrailing ?? '', 'hex')]);
}

/** Each batch is compressed by itself, so that of the many alike in a bomb only the first has to be. */
function gzipOf(pieces: Iterable<Buffer>): Buffer {
  let crc = 0;
  let size = 0;
  let last: { readonly plain: Buffer; readonly packed: Buffer } = { plain: Buffer.alloc(0), packed: Buffer.alloc(0) };
  const packed: Buffer[] = [Buffer.from('1f8b0800000000000003', 'hex')];
  for (const plain of batched(pieces)) {
    crc = crc32(plain, crc);
    size += plain.length;
    if (!plain.equals(last.plain)) {
      last = { plain, packed: deflateRawSync(plain, { finishFlush: constants.Z_FULL_FLUSH }) };
    }
    packed.push(last.packed);
  }
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc, 0);
  trailer.writeUInt32LE(size % 2 ** 32, 4);
  return Buffer.concat([...packed, LAST_BLOCK, trailer]);
}

/** Many small pieces as fewer large ones. */
function* batched(pieces: Iterable<Buffer>): Generator<Buffer> {
  let held: Buffer[] = [];
  let size = 0;
  for (const piece of pieces) {
    held.push(piece);
    size += piece.length;
    if (size < 512 * 1024) continue;
    yield Buffer.concat(held);
    held = [];
    size = 0;
  }
  yield Buffer.concat(held);
}

function* entryOf(entry: EntryDescription): Generator<Buffer> {
  for (let index = 0; index < (entry.count ?? 1); index += 1) {
    const name = nameOf(entry, index);
    if (entry.paxRawHex !== undefined) yield* extensionOf('x', Buffer.from(entry.paxRawHex, 'hex'));
    else if (entry.viaPax === true) yield* extensionOf('x', paxOf({ path: name.toString() }));
    else if (entry.pax !== undefined && entry.type !== 'pax-global') yield* extensionOf('x', paxOf(entry.pax));
    const long = entry.viaPax !== true && entry.pax?.path === undefined && name.length > 100;
    if (long) yield* extensionOf('L', Buffer.concat([name, Buffer.alloc(1)]));
    yield* recordOf(entry, name.subarray(0, 100));
  }
}

function nameOf(entry: EntryDescription, index: number): Buffer {
  if (entry.nameHex !== undefined) return Buffer.from(entry.nameHex, 'hex');
  if (entry.nameRepeat !== undefined) return Buffer.from(entry.nameRepeat.repeat(entry.repeat ?? 1));
  if (entry.namePattern !== undefined)
    return Buffer.from(entry.namePattern.replace('%06d', String(index).padStart(6, '0')));
  return Buffer.from(entry.name ?? (entry.type.startsWith('gnu-') ? '././@LongLink' : 'pax_global_header'));
}

function* recordOf(entry: EntryDescription, name: Buffer): Generator<Buffer> {
  const length = entry.repeatByte === undefined ? undefined : (entry.size ?? 0);
  const body = entry.bytes ?? bodyOf(entry);
  yield headerOf(entry, name, length ?? body.length);
  if (length === undefined) {
    yield padded(body);
    return;
  }
  const piece = Buffer.alloc(64 * 1024, Buffer.from(entry.repeatByte ?? '00', 'hex'));
  for (let left = length; left > 0; left -= piece.length) yield piece.subarray(0, left);
  yield Buffer.alloc((BLOCK - (length % BLOCK)) % BLOCK);
}

function bodyOf(entry: EntryDescription): Buffer {
  if (entry.type === 'pax-global') return paxOf(entry.pax ?? {});
  if (entry.type === 'gnu-longname' || entry.type === 'gnu-longlink') return Buffer.from(`${entry.value ?? ''}\0`);
  return Buffer.from(entry.content ?? '');
}

function* extensionOf(flag: string, body: Buffer): Generator<Buffer> {
  yield headerOf({ type: `raw:${flag}` }, Buffer.from('PaxHeader/entry'), body.length);
  yield padded(body);
}

function paxOf(records: Readonly<Record<string, string>>): Buffer {
  return Buffer.concat(
    Object.entries(records).map(([key, described]) => {
      const value = described === '<1 MiB of a>' ? 'a'.repeat(1024 * 1024) : described;
      const rest = Buffer.from(` ${key}=${value}\n`);
      let length = rest.length;
      while (length !== rest.length + String(length).length) length = rest.length + String(length).length;
      return Buffer.concat([Buffer.from(String(length)), rest]);
    }),
  );
}

function padded(body: Buffer): Buffer {
  return Buffer.concat([body, Buffer.alloc((BLOCK - (body.length % BLOCK)) % BLOCK)]);
}

function headerOf(entry: EntryDescription, name: Buffer, size: number): Buffer {
  const block = Buffer.alloc(BLOCK);
  name.copy(block, 0, 0, 100);
  block.write(`${(entry.mode ?? (entry.type === 'dir' ? '755' : '644')).padStart(7, '0')}\0`, 100, 'latin1');
  octal(block, 108, 8, entry.uid ?? 1000);
  octal(block, 116, 8, entry.gid ?? 1000);
  octal(block, 124, 12, Math.min(entry.declaredSize ?? size, 0o77777777777));
  if ((entry.declaredSize ?? 0) > 0o77777777777) base256(block, 124, 12, entry.declaredSize ?? 0);
  if (entry.sizeFieldRaw !== undefined) block.write(entry.sizeFieldRaw, 124, 'latin1');
  if (entry.sizeBase256 !== undefined) Buffer.from(entry.sizeBase256, 'hex').copy(block, 124);
  octal(block, 136, 12, 1_700_000_000);
  if (entry.mtimeBase256 !== undefined) Buffer.from(entry.mtimeBase256, 'hex').copy(block, 136);
  block.write(entry.type.startsWith('raw:') ? entry.type.slice(4) : (FLAGS[entry.type] ?? '?'), 156, 'latin1');
  block.write(entry.linkname ?? '', 157, 'utf8');
  block.write('ustar\x0000', 257, 'latin1');
  block.write(entry.uname ?? '', 265, 'utf8');
  octal(block, 329, 8, entry.devmajor ?? 0);
  octal(block, 337, 8, entry.devminor ?? 0);
  block.write(entry.ustarPrefix ?? '', 345, 'utf8');
  return sealed(block, entry.badChecksum === true ? 1 : 0);
}

/** Writes the checksum of a header; `error` makes it wrong by so much. */
export function sealed(block: Buffer, error = 0): Buffer {
  block.fill(0x20, 148, 156);
  let sum = error;
  for (const byte of block) sum += byte;
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

function octal(block: Buffer, at: number, width: number, value: number): void {
  block.write(`${value.toString(8).padStart(width - 1, '0')}\0`, at, 'latin1');
}

function base256(block: Buffer, at: number, width: number, value: number): void {
  block.write(value.toString(16).padStart(2 * width, '0'), at, 'hex');
  block.writeUInt8(0x80, at);
}
