// Text that people read, and text that is only stored: what neither may hold, said once for every schema.
// Nothing is normalised: text comes back as it was sent, except that CRLF becomes LF.
import * as z from 'zod';
import { HARMFUL } from './plain-text.ts';

const LINE = new RegExp(`^[^${HARMFUL}]*$`, 'u');
const PARAGRAPHS = new RegExp(`^(?:[^${HARMFUL}]|[\\t\\n])*$`, 'u');

/**
 * Arguments of `z.string().regex(…)` for one line that a person reads: an app name, a label, a reason. Characters that
 * could break the line, hide in it or reverse it are refused, so that no text can pose as words of the platform.
 */
export const readableLine = [LINE, 'must be one line without control or bidirectional characters'] as const;

/**
 * Arguments of `z.string().regex(…)` for what people choose or agree by: besides spaces, joiners and fillers, which draw
 * nothing, there is something to see. That a text is empty is for its least length to say.
 */
export const visible = [
  /^$|[^\p{White_Space}\p{Default_Ignorable_Code_Point}\p{M}\p{C}\u2800]/u,
  'must have a visible character',
] as const;

/** Several lines that a person reads, with tabs and line breaks; `maximum` counts UTF-16 units after CRLF became LF. */
export function readableText(maximum: number) {
  return z
    .string()
    .overwrite((text) => text.replaceAll('\r\n', '\n'))
    .max(maximum)
    .regex(PARAGRAPHS, 'must not contain control or bidirectional characters');
}

/** Whether PostgreSQL can hold the text (in `text` and in `jsonb`): no U+0000, no half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** The arguments of `z.string().refine(…)` for text that no person reads. */
export const storable = [isStorable, 'must not contain NUL or unpaired surrogates'] as const;
