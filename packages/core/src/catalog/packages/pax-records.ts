// The records of a pax extended header (POSIX.1-2024, pax, "pax Extended Header"), read strictly.
import { packageFault, quoted } from './package-fault.ts';

const STRICT_UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Times, owners and comments say nothing about what is unpacked; everything not named here is dropped like them. */
const REFUSED = /^(linkpath|realtime\..*|security\..*|GNU\.(sparse|volume|dumpdir)\..*|charset)$/;
const UTF8_CHARSET = 'ISO-IR 10646 2000 UTF-8';

export interface PaxRecords {
  readonly path: Buffer | undefined;
  readonly size: number | undefined;
}

/**
 * @param scope a `global` header may rename or resize nothing
 * @throws RefusalError for malformed, repeated or refused records
 */
export function parsePaxRecords(bytes: Buffer, scope: 'entry' | 'global'): PaxRecords {
  const records = split(bytes);
  for (const [key, value] of records) {
    if (REFUSED.test(key)) throw packageFault(`The archive uses the extended header ${quoted(key)}, which is refused.`);
    if (key === 'hdrcharset' && value.toString('latin1') !== UTF8_CHARSET)
      throw packageFault('The names in the archive are not UTF-8.');
  }
  const path = records.get('path');
  const size = records.get('size');
  if (scope === 'global' && (path !== undefined || size !== undefined))
    throw packageFault('A global header in the archive changes the name or size of all entries.');
  return { path, size: size === undefined ? undefined : decimal(size) };
}

/** `<length> <key>=<value>\n` again and again; the length counts the whole record in bytes. */
function split(bytes: Buffer): Map<string, Buffer> {
  const malformed = () => packageFault('An extended header in the archive is malformed.');
  const records = new Map<string, Buffer>();
  let rest = bytes;
  while (rest.length > 0) {
    const space = rest.subarray(0, 12).indexOf(0x20);
    const digits = rest.subarray(0, Math.max(0, space)).toString('latin1');
    const length = Number(digits);
    if (!/^[1-9]\d*$/.test(digits) || length > rest.length || length < space + 4) throw malformed();
    const record = rest.subarray(space + 1, length);
    const equals = record.indexOf(0x3d);
    if (record.at(-1) !== 0x0a || equals < 1) throw malformed();
    const key = utf8(record.subarray(0, equals));
    if (key === null || records.has(key)) throw malformed();
    records.set(key, record.subarray(equals + 1, -1));
    rest = rest.subarray(length);
  }
  return records;
}

function utf8(bytes: Buffer): string | null {
  try {
    return STRICT_UTF8.decode(bytes);
  } catch {
    return null;
  }
}

function decimal(bytes: Buffer): number {
  const text = bytes.toString('latin1');
  if (!/^(0|[1-9]\d{0,14})$/.test(text)) throw packageFault('A size in an extended header is not a number.');
  return Number(text);
}
