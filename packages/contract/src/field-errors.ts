// Turns what a schema found into the field errors of a refusal, and into one sentence that a person can act on.
import type * as z from 'zod';
import { type FieldError, type RefusalError, refuse } from './errors.ts';

/** Of one refusal. */
export const MOST_ERRORS = 50;

/** @param within where the checked value stands in the whole */
export function fieldErrors(error: z.ZodError, within: readonly PropertyKey[] = []): FieldError[] {
  const ofWrongType = new Set<string>();
  const said = new Set<string>();
  const found: FieldError[] = [];
  for (const { code, path, message } of error.issues) {
    if (found.length === MOST_ERRORS) break;
    const at = jsonPath([...within, ...path]);
    const fault = JSON.stringify([at, message]);
    // Patterns and bounds also look at values of a wrong type, and several say the same.
    if (ofWrongType.has(at) || said.has(fault)) continue;
    if (code === 'invalid_type') ofWrongType.add(at);
    said.add(fault);
    found.push({ path: at, message });
  }
  return found;
}

/** `` `title` is missing ``, `must be an object` for the whole. */
export function faultWords({ path, message }: FieldError): string {
  return path === '' ? message : `\`${path}\` ${message}`;
}

/** What does not fit in an answer or a file, for the middle of a sentence: `it has another form: \`items[0].at\` is missing`. */
export function formFault(error: z.ZodError): string {
  const [first] = fieldErrors(error);
  return `it has another form${first === undefined ? '' : `: ${faultWords(first)}`}`;
}

/** `invalid_request` with the first fault in its detail, for clients that show nothing else. */
export function notValid(what: string, errors: readonly FieldError[]): RefusalError {
  const [first] = errors;
  const more = errors.length < 2 ? '' : ` (and ${errors.length - 1} more)`;
  const fault = first === undefined ? '' : `: ${first.path === '' ? `it ${first.message}` : faultWords(first)}${more}`;
  return refuse('invalid_request', `${what} is not valid${fault}.`, { errors });
}

function jsonPath(path: readonly PropertyKey[]): string {
  let text = '';
  for (const part of path) text += typeof part === 'number' ? `[${part}]` : `${text === '' ? '' : '.'}${String(part)}`;
  return text;
}
