// Words of apps, made fit to be shown and passed on.

/** Names of tools and prompts. */
export const APP_NAME = /^[A-Za-z0-9_.-]{1,128}$/;
/** Bytes of a title, or of another name that is shown. */
export const TITLE = 128;
/** Controls, and what turns the direction of the text around it. */
const CONTROL = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Without control characters, cut at so many bytes. */
export function plainText(text: string, bytes: number): string {
  const plain = text.toWellFormed().replaceAll(CONTROL, (one) => (one === '\n' || one === '\t' ? one : ''));
  if (Buffer.byteLength(plain) <= bytes) return plain;
  const cut = Buffer.from(plain)
    .subarray(0, bytes - 3)
    .toString('utf8');
  // The last character may have been cut in two.
  return `${cut.replace(/\ufffd+$/, '')}…`;
}

export function plainLine(text: string, bytes: number): string {
  return plainText(text.replaceAll(/\s+/g, ' ').trim(), bytes);
}

/** The value with every text in it as {@link plainText}, names of members included. */
export function plainTexts(value: unknown, bytes: number): unknown {
  if (typeof value === 'string') return plainText(value, bytes);
  if (Array.isArray(value)) return value.map((one) => plainTexts(one, bytes));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [plainText(name, TITLE), plainTexts(member, bytes)]),
  );
}
