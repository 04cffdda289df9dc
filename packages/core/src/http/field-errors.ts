// Turns schema errors into the field errors of a refusal.
import type { FieldError } from '@platform/contract';
import type * as z from 'zod';

/** Of one refusal. */
export const MOST_ERRORS = 50;

/** @param within where the checked value stands in the whole */
export function fieldErrors(error: z.ZodError, within: readonly PropertyKey[] = []): FieldError[] {
  return error.issues
    .slice(0, MOST_ERRORS)
    .map(({ path, message }) => ({ path: jsonPath([...within, ...path]), message }));
}

function jsonPath(path: readonly PropertyKey[]): string {
  let text = '';
  for (const part of path) text += typeof part === 'number' ? `[${part}]` : `${text === '' ? '' : '.'}${String(part)}`;
  return text;
}
