// Text that a person decides by, with nothing in it that they cannot see.

/** Characters that draw nothing, or change in which order others are drawn; lines and tabs stay. */
const UNSEEN = /(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** The text as it is, with what cannot be seen in it named (`[U+202E]`): what is read is what is meant. */
export function visibleText(text: string): string {
  return text.replace(
    UNSEEN,
    (character) => `[U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`,
  );
}
