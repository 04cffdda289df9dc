// Patterns for tools in other languages: Unicode properties (`\p{…}`) are not in the regular expressions of Python, and in those of
// JavaScript only with the flag `u`, which not every tool sets.

const CONTROLS = '\\u0000-\\u001f\\u007f-\\u009f';
/** Surrogates are left out: no text in UTF-8 has lone ones, and tools that count in UTF-16 would take an emoji for two. */
const RANGES: Readonly<Record<string, string>> = {
  '\\p{Cc}': CONTROLS,
  // Outside of a class of characters; in one it would have no form of its own.
  '\\P{Cc}': `[^${CONTROLS}]`,
  '\\p{Cs}': '',
  '\\p{Zl}': '\\u2028',
  '\\p{Zp}': '\\u2029',
};

/** The pattern without properties; `undefined` for one whose properties are too many characters to list. */
export function portablePattern(pattern: string): string | undefined {
  const listed = pattern.replaceAll(/\\p\{\w+\}/gi, (property) => RANGES[property] ?? property);
  return /\\p\{/i.test(listed) ? undefined : listed;
}
