// Space around what stands in a field: SP and HTAB (RFC 9110 section 5.6.3). `trim` of JavaScript takes away more, such as a
// no-break space, and so reads one name where others read another.

const SPACE = 0x20;
const TAB = 0x09;

/** Without SP and HTAB at both ends. */
export function trimField(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text.charCodeAt(start))) start += 1;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isSpace(code: number): boolean {
  return code === SPACE || code === TAB;
}
