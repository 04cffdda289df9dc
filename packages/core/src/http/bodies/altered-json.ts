// Refuses JSON that would come back as something else, since what apps keep here is given back to them: integers beyond 2^53 and
// numbers beyond a double, which lose digits (RFC 7493, section 2.2). One look at each character: a reviver of JSON.parse is called for every value, and took fifty
// times as long as parsing.
import { refuse } from '@platform/contract';

/** Shorter ones without an exponent are kept as they are. */
const SHORTEST_ALTERED = 16;

/**
 * @param text JSON that was parsed before
 * @throws RefusalError `invalid_request`
 */
export function refuseAlteredJson(text: string): void {
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (inString) {
      if (code === 0x5c) index += 1;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x2d || isDigit(code)) {
      const end = endOfNumber(text, index);
      if (isAltered(text, index, end))
        throw refuse('invalid_request', 'The body holds a number that JavaScript cannot keep. Send it as a string.');
      index = end - 1;
    }
  }
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function endOfNumber(text: string, begin: number): number {
  let end = begin + 1;
  for (; end < text.length; end += 1) {
    const code = text.charCodeAt(end);
    // Signs, the point and the exponent.
    if (!isDigit(code) && code !== 0x2b && code !== 0x2d && code !== 0x2e && code !== 0x45 && code !== 0x65) break;
  }
  return end;
}

function isAltered(text: string, begin: number, end: number): boolean {
  const source = text.slice(begin, end);
  if (source.length < SHORTEST_ALTERED && !/e/i.test(source)) return false;
  const value = Number(source);
  return !Number.isFinite(value) || (!Number.isSafeInteger(value) && /^-?\d+$/.test(source));
}
