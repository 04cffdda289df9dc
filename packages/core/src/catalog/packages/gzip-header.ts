// Parses the head and tail of a member of a gzip file (RFC 1952): zlib's own gzip reader ignores bytes after the last one, so
// that two readers could see two different packages in one upload.
import { crc32 } from 'node:zlib';
import { packageFault } from './package-fault.ts';

const LONGEST_HEADER = 64 * 1024;
export const GZIP_TRAILER_BYTES = 8;

const FLAG = { headerCrc: 2, extra: 4, name: 8, comment: 16, reserved: 0xe0 } as const;

/**
 * Length of the header of a gzip member in bytes, or `null` while `bytes` holds only a part of it.
 * Optional fields are skipped; their checksum is verified.
 *
 * @throws RefusalError when these are not the first bytes of a gzip file
 */
export function gzipHeaderLength(bytes: Buffer): number | null {
  if (bytes.length >= 2 && bytes.readUInt16BE(0) !== 0x1f8b) throw packageFault('The package is not a gzip file.');
  if (bytes.length < 10) return null;
  const flags = bytes.readUInt8(3);
  if (bytes[2] !== 8 || (flags & FLAG.reserved) !== 0) throw packageFault('The gzip header is not valid.');
  const end = endOfFields(bytes, flags);
  if (end === null && bytes.length > LONGEST_HEADER) throw packageFault('The gzip header is too long.');
  return end;
}

function endOfFields(bytes: Buffer, flags: number): number | null {
  let at = 10;
  if ((flags & FLAG.extra) !== 0) {
    if (bytes.length < at + 2) return null;
    at += 2 + bytes.readUInt16LE(at);
  }
  for (const flag of [FLAG.name, FLAG.comment]) {
    if ((flags & flag) === 0) continue;
    const nul = bytes.indexOf(0, at);
    if (nul === -1) return null;
    at = nul + 1;
  }
  if ((flags & FLAG.headerCrc) !== 0) {
    if (bytes.length < at + 2) return null;
    if (bytes.readUInt16LE(at) !== (crc32(bytes.subarray(0, at)) & 0xffff))
      throw packageFault('The gzip header does not match its checksum.');
    at += 2;
  }
  return bytes.length < at ? null : at;
}

/** @throws RefusalError when checksum or length in the last 8 bytes differ from what was unpacked */
export function checkGzipTrailer(trailer: Buffer, unpacked: { readonly crc: number; readonly size: number }): void {
  if (trailer.readUInt32LE(0) !== unpacked.crc || trailer.readUInt32LE(4) !== unpacked.size % 2 ** 32)
    throw packageFault('The gzip file is damaged: its checksum does not match.');
}
