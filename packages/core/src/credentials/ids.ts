// Opaque identifiers: UUIDv7 (RFC 9562, section 5.7) behind a typed prefix (contract 1).

export interface IdSource {
  readonly clock: () => Date;
  readonly random: (bytes: number) => Buffer;
}

export function uuidv7({ clock, random }: IdSource): string {
  const bytes = random(16);
  bytes.writeUIntBE(clock().getTime(), 0, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

export function newId<Prefix extends string>(prefix: Prefix, source: IdSource): string {
  return `${prefix}-${uuidv7(source)}`;
}

const LABEL_ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

/**
 * 21 lower-case characters, 105 random bits: unguessable, for the host of an app and the name of an endpoint. With
 * the longest app id and `--` before it, it still fits the 63 octets of a DNS label (RFC 1035, section 2.3.4).
 */
export function opaqueLabel(random: (bytes: number) => Buffer): string {
  return Array.from(random(21), (byte) => LABEL_ALPHABET.charAt(byte & 31)).join('');
}
