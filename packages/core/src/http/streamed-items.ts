// The items of a large body, which lie in a file and are read from there piece by piece.
import { createReadStream } from 'node:fs';

/** The items of a body, in order, without holding them. */
export interface StreamedItems<Item> {
  /** What names each item. */
  readonly keys: readonly string[];
  /** Each time from the first one. */
  items(): Iterable<Item> | AsyncIterable<Item>;
  /** Gives back what they take. */
  close(): Promise<void>;
}

/** Items of a body that is small enough to be held. */
export function heldItems<Item>(items: readonly Item[], keyOf: (item: Item) => string): StreamedItems<Item> {
  return { keys: items.map(keyOf), items: () => items, close: async () => undefined };
}

/** The values of a file with a line of JSON each. */
export async function* linesOf(file: string): AsyncGenerator<unknown> {
  let rest = '';
  for await (const chunk of createReadStream(file, { encoding: 'utf8' })) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line);
  }
}
