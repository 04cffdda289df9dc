// Text that a person decides by, with nothing in it that they cannot see.

const HIDDEN = /(?!\t)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Characters that draw nothing, or change in which order others are drawn, as `⟨U+202E⟩`: what is read is what runs. */
export function visibleLine(text: string): string {
  return text.replace(HIDDEN, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
  });
}
