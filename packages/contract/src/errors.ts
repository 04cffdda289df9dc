// A refusal as a value and as the problem document that a caller receives.
import { errors } from './domains.ts';
import { plainText } from './plain-text.ts';

export type ErrorCode = keyof typeof errors;

export interface FieldError {
  /** JSON path of the member, e.g. `permissions[0].id`; empty for the whole body. */
  readonly path: string;
  readonly message: string;
}

/** RFC 9457 problem document as every part of the platform sends it. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ErrorCode;
  readonly requestId: string;
  readonly errors?: readonly FieldError[];
}

export interface Refusal {
  readonly code: ErrorCode;
  /** What happened in this case and what to do. Never holds a secret, SQL or a path of the host. Default: the title. */
  readonly detail?: string;
  readonly errors?: readonly FieldError[];
  /** Seconds for `Retry-After`, where waiting helps. */
  readonly retryAfter?: number;
  /** For `method_not_allowed`. */
  readonly allow?: readonly string[];
}

/**
 * A refusal a caller can cause. Thrown inside a request and turned into the problem document in one place;
 * everything else that is thrown is a bug and answers `internal_error`.
 */
export class RefusalError extends Error {
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(`${refusal.code}: ${refusal.detail ?? errors[refusal.code].title}`);
    this.name = 'RefusalError';
    this.refusal = refusal;
  }
}

/** A refusal to throw. @param detail what happened with what, and what to do; default: the title of the code */
export function refuse(code: ErrorCode, detail?: string, more: Omit<Refusal, 'code' | 'detail'> = {}): RefusalError {
  return new RefusalError({ code, ...(detail === undefined ? {} : { detail }), ...more });
}

/** The problem document of a refusal (RFC 9457), with its detail as plain text. */
export function problemOf(refusal: Refusal, requestId: string): Problem {
  const entry = errors[refusal.code];
  return {
    type: `urn:platform:error:${refusal.code}`,
    title: entry.title,
    status: entry.status,
    // Some quote what they refuse.
    detail: plainText(refusal.detail ?? entry.title),
    code: refusal.code,
    requestId,
    ...(refusal.errors === undefined ? {} : { errors: refusal.errors.map(quoted) }),
  };
}

function quoted({ path, message }: FieldError): FieldError {
  return { path: plainText(path), message: plainText(message) };
}
