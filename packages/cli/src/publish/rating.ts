// The security rating of a version, as people will see it in the Store, for its author.
import { type Manifest, manifestRating, ratingScale } from '@platform/contract';
import { paint, say } from '../terminal/terminal.ts';

/** One line, and one for each reason. */
export function ratingLines(manifest: Manifest): string[] {
  const { rating, reasons } = manifestRating(manifest);
  return [`  security  ${rating} of 5: ${ratingScale[rating].label}`, ...reasons.map(({ text }) => `    ${text}`)];
}

export function sayRating(manifest: Manifest): void {
  const [line = '', ...reasons] = ratingLines(manifest);
  say(line);
  for (const reason of reasons) say(paint('dim', reason));
}
