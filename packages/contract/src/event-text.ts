// Reads text/event-stream (HTML, "Interpreting an event stream") where a request carries a header, which EventSource
// cannot send.

export interface TextEvent {
  /** Empty for an event without a name. */
  readonly event: string;
  /** The JSON of its data lines, parsed. */
  readonly data: unknown;
  readonly id: string | undefined;
}

/**
 * @param keepId gets every id, also one that comes without data: where the stream begins
 * @returns the events of each piece of the text, however it was cut; throws SyntaxError for data that is not JSON
 */
export function eventParser(keepId: (id: string) => void = () => undefined): (piece: string) => TextEvent[] {
  let rest = '';
  let event = '';
  let data: string[] = [];
  let id: string | undefined;
  return (piece) => {
    const found: TextEvent[] = [];
    const lines = (rest + piece).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line === '') {
        if (id !== undefined) keepId(id);
        if (data.length > 0) found.push({ event, data: JSON.parse(data.join('\n')), id });
        event = '';
        data = [];
        continue;
      }
      const colon = line.indexOf(':');
      const name = colon === -1 ? line : line.slice(0, colon);
      const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
      if (name === 'event') event = value;
      else if (name === 'data') data.push(value);
      else if (name === 'id' && !value.includes('\0')) id = value;
    }
    return found;
  };
}
