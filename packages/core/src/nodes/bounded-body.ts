// Reads what a node sends within limits of size, of all at once, and with what it holds counted (intake.ts).

import { Pile } from '@platform/contract/pile';
import { sizeText } from '@platform/contract/sizes';
import { type Holding, TooMuchError } from './intake.ts';

export interface Bounds {
  /** Bytes of the whole body, or of one line. */
  readonly limit: number;
  readonly holding: Holding;
}

type Body = AsyncIterable<Uint8Array> | null;

const NEWLINE = 0x0a;

/**
 * The whole body as text.
 *
 * @throws TooMuchError when the body is longer than the limit or than there is room; Error when it is not UTF-8
 */
export async function readBounded(body: Body, bounds: Bounds): Promise<string> {
  return decode(await readBytes(body, bounds));
}

/** As {@link readBounded}: the bytes. */
export async function readBytes(body: Body, { limit, holding }: Bounds): Promise<Buffer> {
  const pile = new Pile();
  for await (const piece of body ?? []) add(pile, piece, { limit, holding });
  return pile.take();
}

/**
 * The lines of a body as they arrive, without their line breaks; what follows the last one is not given. Reads no
 * further than its consumer asks. Empty lines are passed over.
 *
 * @param heard called whenever lines have ended, also empty ones, and after each that was given
 * @throws TooMuchError when a line is longer than the limit or than there is room; Error when it is not UTF-8
 */
export async function* readLines(
  body: Body,
  bounds: Bounds,
  heard: () => void,
): AsyncGenerator<string, void, undefined> {
  const pile = new Pile();
  for await (const piece of body ?? []) {
    if (piece.includes(NEWLINE)) heard();
    let start = 0;
    while (start < piece.length) {
      if (pile.length === 0 && piece[start] === NEWLINE) {
        start += 1;
        continue;
      }
      const end = piece.indexOf(NEWLINE, start);
      const part = piece.subarray(start, end < 0 ? piece.length : end);
      start += part.length + 1;
      if (end < 0) add(pile, part, bounds);
      else if (pile.length + part.length > 0) {
        yield decode(lineOf(pile, part, bounds));
        bounds.holding.resize(0);
        heard();
      }
    }
  }
}

/** What ends with this part; one that came in one piece is not copied. */
function lineOf(pile: Pile, part: Uint8Array, bounds: Bounds): Uint8Array {
  if (pile.length === 0 && part.length <= bounds.limit) return part;
  add(pile, part, bounds);
  return pile.take();
}

function add(pile: Pile, piece: Uint8Array, { limit, holding }: Bounds): void {
  if (pile.length + piece.length > limit) throw new TooMuchError(`it is longer than ${sizeText(limit)}`);
  const size = pile.sizeWith(piece.length);
  if (size > pile.size) holding.resize(size);
  pile.add(piece);
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
}
