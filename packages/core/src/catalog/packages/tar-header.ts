// One 512-byte tar header (POSIX ustar, and GNU where it means the same), read strictly: whatever another reader
// could understand differently is refused, because the Runtime unpacks the same bytes with a reader of its own.
import { packageFault, quoted } from './package-fault.ts';

export const TAR_BLOCK_BYTES = 512;

export interface TarHeader {
  /** Name with its prefix as bytes; not checked yet. */
  readonly name: Buffer;
  readonly typeflag: string;
  readonly size: number;
}

const USTAR = Buffer.from('ustar\x0000', 'latin1');
const GNU = Buffer.from('ustar  \x00', 'latin1');

/**
 * @param block 512 bytes that are not all zero
 * @throws RefusalError for a wrong checksum, an unknown format, or a field that is not in its plain form
 */
export function parseTarHeader(block: Buffer): TarHeader {
  if (octal(block.subarray(148, 156)) !== checksum(block))
    throw packageFault('The archive is damaged: the checksum of a header does not match.');
  const magic = block.subarray(257, 265);
  const gnu = magic.equals(GNU);
  if (!gnu && !magic.equals(USTAR)) throw packageFault('The archive is not in ustar, pax or GNU tar format.');
  if (gnu && !isZero(block.subarray(345, 500)))
    throw packageFault('The archive contains incremental or sparse entries.');
  const name = field(block.subarray(0, 100));
  const prefix = gnu ? Buffer.alloc(0) : field(block.subarray(345, 500));
  const size = number(block.subarray(124, 136));
  if (size === null) throw packageFault(`The size of ${quoted(name)} in the archive is not a number.`);
  return {
    name: prefix.length === 0 ? name : Buffer.concat([prefix, Buffer.from('/'), name]),
    typeflag: String.fromCharCode(block.readUInt8(156)),
    size,
  };
}

export function isZero(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0);
}

/** Sum of all bytes, those of the checksum field itself taken as spaces. */
function checksum(block: Buffer): number {
  let sum = 8 * 0x20;
  for (let index = 0; index < TAR_BLOCK_BYTES; index += 1) {
    if (index < 148 || index >= 156) sum += block[index] ?? 0;
  }
  return sum;
}

/** Text up to its NUL; what follows the NUL must be padding, or readers would disagree about the name. */
function field(bytes: Buffer): Buffer {
  const end = bytes.indexOf(0);
  if (end === -1) return bytes;
  if (!isZero(bytes.subarray(end))) throw packageFault(`A name in the archive contains a NUL: ${quoted(bytes)}.`);
  return bytes.subarray(0, end);
}

function number(bytes: Buffer): number | null {
  return (bytes[0] ?? 0) >= 0x80 ? base256(bytes) : octal(bytes);
}

/** Digits between optional spaces, ended by NUL or space; a blank field is 0. */
function octal(bytes: Buffer): number | null {
  const match = /^ *([0-7]*)[ \0]*$/.exec(bytes.toString('latin1'));
  if (match === null) return null;
  return match[1] === '' ? 0 : Number.parseInt(match[1] ?? '', 8);
}

/** GNU's form for large numbers; negative ones and those beyond exact integers are nothing a package may hold. */
function base256(bytes: Buffer): number | null {
  if (bytes[0] !== 0x80) return null;
  const value = BigInt(`0x${bytes.subarray(1).toString('hex')}`);
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : null;
}
