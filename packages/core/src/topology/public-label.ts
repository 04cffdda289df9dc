// The opaque part of a public hostname.
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

/**
 * 20 lower-case characters, 100 random bits: unguessable. With the longest app id and `--` before it, it fits the 63
 * octets of a DNS label (RFC 1035, section 2.3.4).
 */
export function newPublicLabel(random: (bytes: number) => Buffer): string {
  return Array.from(random(20), (byte) => ALPHABET.charAt(byte & 31)).join('');
}
