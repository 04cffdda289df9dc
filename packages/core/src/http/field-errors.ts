// Turns schema errors into the field errors of a refusal.
import type { FieldError } from '@platform/contract';
import type * as z from 'zod';

const MOST_ERRORS = 50;

export function fieldErrors(error: z.ZodError): FieldError[] {
  return error.issues.slice(0, MOST_ERRORS).map((issue) => ({ path: jsonPath(issue.path), message: issue.message }));
}

function jsonPath(path: readonly PropertyKey[]): string {
  let text = '';
  for (const part of path) text += typeof part === 'number' ? `[${part}]` : `${text === '' ? '' : '.'}${String(part)}`;
  return text;
}
