// Refuses JSON that would come back as something else, since what apps keep here is given back to them: repeated members,
// of which the last would win, and integers beyond 2^53 and numbers beyond a double, which lose digits (RFC 7493,
// sections 2.2 and 2.3).
import { refuse } from '@platform/contract';

/** The reviver's third argument is younger than TypeScript's types (ECMAScript, JSON.parse source text access). */
type Reviver = (this: object, name: string, value: unknown, context: { readonly source?: string }) => unknown;
const parseWithSource = JSON.parse as (text: string, reviver: Reviver) => unknown;

/**
 * @param text JSON that was parsed before
 * @throws RefusalError `invalid_request`
 */
export function refuseAlteredJson(text: string): void {
  let members = 0;
  parseWithSource(text, function (_name, value, { source }) {
    if (!Array.isArray(this)) members += 1;
    if (typeof value === 'number' && source !== undefined && isAltered(value, source))
      throw refuse('invalid_request', 'The body holds a number that JavaScript cannot keep. Send it as a string.');
    return value;
  });
  // The reviver also visits the object around the whole value.
  if (members - 1 < colonsOf(text)) throw refuse('invalid_request', 'The body names a member twice.');
}

function isAltered(value: number, source: string): boolean {
  return !Number.isFinite(value) || (!Number.isSafeInteger(value) && /^-?\d+$/.test(source));
}

/** Each member has one colon outside strings, also one whose name is repeated. */
function colonsOf(text: string): number {
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
