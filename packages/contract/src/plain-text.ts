// Text of others, made harmless before a person reads it: one function for each place where it appears. Loads nothing, for
// what starts before the rest of the contract is needed.

/**
 * For a class in a RegExp: controls, halves of a surrogate pair, line and paragraph separators, bidirectional
 * embeddings, overrides and isolates.
 */
export const HARMFUL = '\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}\\u202A-\\u202E\\u2066-\\u2069';
const NO_LINE = new RegExp(`[\\s${HARMFUL}]+`, 'gu');
/** What a text of several lines must not hold; in JSON text, tabs and line breaks stand between its values only. */
const NO_PARAGRAPHS = new RegExp(`(?![\\t\\n])[${HARMFUL}]`, 'gu');
const REPLACEMENT = '\ufffd';

/**
 * Foreign text as one readable line: whatever `readableLine` refuses becomes a space.
 *
 * @param maximum UTF-16 units that are kept; no pair is cut in two. Default: all
 */
export function plainLine(text: string, maximum = Number.POSITIVE_INFINITY): string {
  return cut(text.replace(NO_LINE, ' ').trim(), maximum);
}

/**
 * Foreign text of several lines, its spaces, tabs and line breaks where they were: whatever else `readableText` refuses
 * becomes U+FFFD, so that a reader sees that something was there. The one function for what is printed on a terminal.
 */
export function plainText(text: string): string {
  return text.replace(NO_PARAGRAPHS, REPLACEMENT);
}

/** Foreign text as one line of a log: as {@link plainText}, and line breaks too become U+FFFD. */
export function plainLogLine(text: string, maximum = Number.POSITIVE_INFINITY): string {
  return cut(plainText(text).replaceAll('\n', REPLACEMENT), maximum);
}

/** JSON text with the harmful characters of its strings as `\uXXXX`: the same values, and safe to print. */
export function escapeInJson(json: string): string {
  return json.replace(NO_PARAGRAPHS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function cut(text: string, maximum: number): string {
  if (text.length <= maximum) return text;
  const kept = text.slice(0, maximum);
  return kept.isWellFormed() ? kept : kept.slice(0, -1);
}
