// Writes CBOR (RFC 8949), well-formed or on purpose not: maps may repeat keys, and raw bytes may stand anywhere.

export type Cbor = number | string | boolean | Buffer | readonly Cbor[] | CborMap | CborRaw;

/** Entries in the order written; a key may come twice. */
export interface CborMap {
  readonly pairs: readonly (readonly [Cbor, Cbor])[];
}

/** Bytes written as they are. */
export interface CborRaw {
  readonly raw: Buffer;
}

export function encodeCbor(value: Cbor): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'boolean') return Buffer.from([value ? 0xf5 : 0xf4]);
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  if ('raw' in value) return value.raw;
  if ('pairs' in value) {
    return Buffer.concat([head(5, value.pairs.length), ...value.pairs.flat().map(encodeCbor)]);
  }
  return Buffer.concat([head(4, value.length), ...value.map(encodeCbor)]);
}

function head(major: number, argument: number): Buffer {
  const type = major << 5;
  if (argument < 24) return Buffer.from([type | argument]);
  if (argument < 0x100) return Buffer.from([type | 24, argument]);
  if (argument < 0x10000) return Buffer.from([type | 25, argument >> 8, argument & 0xff]);
  const bytes = Buffer.alloc(5, type | 26);
  bytes.writeUInt32BE(argument, 1);
  return bytes;
}
