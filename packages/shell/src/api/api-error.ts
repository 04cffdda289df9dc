// A refusal of core, or no answer at all, as the one error the shell's parts handle.
import type { ErrorCode, FieldError, Problem } from '@platform/contract';

export class ApiError extends Error {
  readonly code: ErrorCode;
  /** 0 when no answer came. */
  readonly status: number;
  /** Seconds to wait, where waiting helps. */
  readonly retryAfter: number | null;
  /** Which members of the request were wrong. */
  readonly fields: readonly FieldError[];

  constructor(problem: Pick<Problem, 'code' | 'detail' | 'status' | 'errors'>, retryAfter: number | null = null) {
    super(problem.detail);
    this.name = 'ApiError';
    this.code = problem.code;
    this.status = problem.status;
    this.retryAfter = retryAfter;
    this.fields = problem.errors ?? [];
  }
}

/** Its message says what the person can do. */
export class PlainError extends Error {}

/** What a person reads when something did not work. Bugs show no detail: it would mean nothing to them. */
export function plainMessage(error: unknown): string {
  if (error instanceof PlainError) return error.message;
  if (!(error instanceof ApiError)) return 'This page stopped on an unexpected error. Reload it and try again.';
  if (error.retryAfter !== null && error.status === 429) {
    return `${error.message} Try again in ${error.retryAfter} ${error.retryAfter === 1 ? 'second' : 'seconds'}.`;
  }
  return error.message;
}
