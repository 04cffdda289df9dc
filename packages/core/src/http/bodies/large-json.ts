// Refuses JSON that is too large as compact JSON, before it is parsed: a dense object of 128 KiB takes the event loop four
// times as long as the longest that is stored. Escapes and white space do not count.
import { type KeptJson, refuse, sizeText } from '@platform/contract';

/** @throws RefusalError as `kept` says; never for text whose compact form fits */
export function refuseLargeJson(text: string, { most, tooLarge }: KeptJson): void {
  if (text.length > most && leastCompactLength(text) > most)
    throw refuse(tooLarge, `The body has more than ${sizeText(most)} of compact JSON. Pass a reference instead.`);
}

/** A lower bound: a character for each that needs one or more, for each number and for each word. */
function leastCompactLength(text: string): number {
  let length = 0;
  let inString = false;
  let inWord = false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (inString) {
      length += 1;
      if (code === 0x5c) index += text.charCodeAt(index + 1) === 0x75 ? 5 : 1;
      else if (code === 0x22) inString = false;
      continue;
    }
    // Space, tab, line feed, carriage return.
    const isSpace = code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d;
    const isStructure =
      code === 0x22 ||
      code === 0x2c ||
      code === 0x3a ||
      code === 0x5b ||
      code === 0x5d ||
      code === 0x7b ||
      code === 0x7d;
    if (isStructure || (!isSpace && !inWord)) length += 1;
    inString = code === 0x22;
    inWord = !isStructure && !isSpace;
  }
  return length;
}
