// Words in the one alphabet of which pg_trgm makes trigrams in every database: under the "C" character type, which
// the platform's own cluster has, it overlooks all letters but those of ASCII.

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';

/**
 * Letters outside ASCII stand for one of 36 each. Different letters may share one: trigrams only propose words,
 * which are compared afterwards in their own letters. One letter stays one letter, so lengths and slips stay as well.
 */
export function gramsOf(words: string): string {
  return words.replace(/[^\x20-\x7E]/gu, (letter) => ALPHABET.charAt((letter.codePointAt(0) ?? 0) % ALPHABET.length));
}
