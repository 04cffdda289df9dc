// The one class of every error the SDK throws: a refusal of the platform, or a call without an answer.
import type { ErrorCode, FieldError, Problem } from '@platform/contract';

/**
 * Codes of the SDK itself; all others are those of the platform's error table.
 *
 * - `network_failed`: the platform could not be reached.
 * - `timed_out`: no complete answer within the call's time limit.
 * - `invalid_answer`: the answer does not follow the platform's protocol.
 * - `not_launched`: the page or process was not started by the platform.
 * - `workflow_failed`: the workflow run failed in a former execution.
 * - `bridge_closed`: the shell does not answer, or closed this frame's connection.
 */
export type SdkErrorCode =
  | 'network_failed'
  | 'timed_out'
  | 'invalid_answer'
  | 'not_launched'
  | 'workflow_failed'
  | 'bridge_closed';

interface Details {
  readonly code: ErrorCode | SdkErrorCode;
  readonly detail: string;
  readonly status?: number;
  readonly requestId?: string | undefined;
  readonly errors?: readonly FieldError[] | undefined;
  readonly retryAfter?: number | undefined;
  readonly cause?: unknown;
}

export class PlatformError extends Error {
  override readonly name = 'PlatformError';
  /** For programs to decide by; docs/errors.md lists the platform's codes. */
  readonly code: ErrorCode | SdkErrorCode;
  /** HTTP status of the answer; 0 when there was none. */
  readonly status: number;
  /** What happened and what to do about it, for a person. The same as `message`. */
  readonly detail: string;
  /** Names the request in the operator's log. */
  readonly requestId: string | undefined;
  /** For `invalid_request` and `grants_exceed_request`: each wrong member with its path. */
  readonly errors: readonly FieldError[];
  /** Seconds to wait before trying again, where the platform says so. */
  readonly retryAfter: number | undefined;

  constructor(details: Details) {
    const { code, detail, status = 0, requestId, errors = [], retryAfter, cause } = details;
    super(detail, cause === undefined ? undefined : { cause });
    this.code = code;
    this.status = status;
    this.detail = detail;
    this.requestId = requestId;
    this.errors = errors;
    this.retryAfter = retryAfter;
  }
}

function isProblem(value: unknown): value is Problem {
  return typeof value === 'object' && value !== null && 'code' in value && typeof value.code === 'string';
}

/** Reads the problem document of a refused answer (RFC 9457). */
export async function errorFromResponse(response: Response): Promise<PlatformError> {
  const problem: unknown = await response.json().catch(() => undefined);
  const status = response.status;
  const requestId = response.headers.get('x-request-id') ?? undefined;
  const wait = Number(response.headers.get('retry-after') ?? Number.NaN);
  const retryAfter = wait >= 0 ? wait : undefined;
  if (!isProblem(problem)) {
    return new PlatformError({
      code: 'invalid_answer',
      detail: `The platform answered ${status} without a problem document.`,
      status,
      requestId,
      retryAfter,
    });
  }
  return new PlatformError({
    code: problem.code,
    detail: problem.detail,
    status,
    requestId: problem.requestId ?? requestId,
    errors: problem.errors,
    retryAfter,
  });
}
