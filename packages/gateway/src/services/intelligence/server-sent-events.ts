// The `data` of server-sent events, taken from bytes as they pass. A line without an end is not kept for ever.

/** Of one line. An event beyond it is not read. */
const LONGEST_LINE = 1024 * 1024;
const NEWLINE = 0x0a;
const DATA = 'data:';

/**
 * @param take gets each line of data, without `data:`
 * @param skip gets what belongs to a line that is too long
 */
export function eventData(take: (data: string) => void, skip: (bytes: Buffer) => void): (bytes: Buffer) => void {
  let begun: Buffer[] = [];
  let length = 0;
  return (bytes) => {
    let at = 0;
    for (;;) {
      const end = bytes.indexOf(NEWLINE, at);
      const part = bytes.subarray(at, end === -1 ? bytes.length : end);
      length += part.length;
      if (length <= LONGEST_LINE) begun.push(part);
      else {
        for (const one of [...begun, part]) skip(one);
        begun = [];
      }
      if (end === -1) return;
      if (length <= LONGEST_LINE) {
        const line = (begun.length === 1 ? part : Buffer.concat(begun)).toString('utf8');
        if (line.startsWith(DATA)) take(line.slice(DATA.length).trim());
      }
      begun = [];
      length = 0;
      at = end + 1;
    }
  };
}

/** What is sent as JSON; `undefined` for anything else, such as the `[DONE]` at the end. */
export function parsed(data: string): unknown {
  if (!data.startsWith('{')) return undefined;
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}
