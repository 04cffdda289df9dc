// JSON in which an object names a member twice: readers differ in which of the two counts (RFC 8259, section 4), so what one of
// them checked another one may not see. Whatever comes from outside is refused for it.

/**
 * @param text JSON that was parsed before
 * @param value what it was parsed to, no deeper than `limits.jsonDepth`
 */
export function repeatsMember(text: string, value: unknown): boolean {
  // Each member has one colon outside strings, also one whose name is repeated.
  return membersOf(value) < colonsOutsideStrings(text);
}

function colonsOutsideStrings(text: string): number {
  let colons = 0;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (inString) {
      if (code === 0x5c) index += 1;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x3a) colons += 1;
  }
  return colons;
}

/** Members of all objects in it. */
function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const values: unknown[] = Array.isArray(value) ? value : Object.values(value);
  let members = Array.isArray(value) ? 0 : values.length;
  for (const one of values) members += membersOf(one);
  return members;
}
