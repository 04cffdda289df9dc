// What the worker refuses, as the problem document that every part of the platform sends (RFC 9457).
import { agentErrors } from '@platform/contract/agents';

export type RefusalCode = keyof typeof agentErrors;

export interface FieldError {
  readonly path: string;
  readonly message: string;
}

export class Refusal extends Error {
  readonly code: RefusalCode;
  readonly errors: readonly FieldError[];
  readonly allow: readonly string[];
  constructor(
    code: RefusalCode,
    detail?: string,
    more: { readonly errors?: readonly FieldError[]; readonly allow?: readonly string[] } = {},
  ) {
    super(detail ?? agentErrors[code].title);
    this.name = 'Refusal';
    this.code = code;
    this.errors = more.errors ?? [];
    this.allow = more.allow ?? [];
  }
}

export function problemOf({ code, message, errors }: Refusal): { readonly status: number } {
  const { status, title } = agentErrors[code];
  return {
    type: `urn:platform:error:${code}`,
    title,
    status,
    detail: message,
    code,
    ...(errors.length === 0 ? {} : { errors }),
  } as { readonly status: number };
}
