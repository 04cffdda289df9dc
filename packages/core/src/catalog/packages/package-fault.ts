// Refusals of a package, worded for the person who built it.
import { type FieldError, RefusalError } from '@platform/contract';

/** An `invalid_request` refusal that says what is wrong with the package. */
export function packageFault(detail: string, errors?: readonly FieldError[]): RefusalError {
  return new RefusalError({ code: 'invalid_request', detail, ...(errors === undefined ? {} : { errors }) });
}

const SHOWN = 120;

/** A name out of an archive, quoted and escaped, short enough for a message. */
export function quoted(name: string | Buffer): string {
  const text = typeof name === 'string' ? name : name.toString('latin1');
  const shown = text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
  return JSON.stringify(shown).replaceAll(/[^\x20-\x7E\p{L}\p{M}\p{N}…]/gu, (character) => {
    return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
  });
}
