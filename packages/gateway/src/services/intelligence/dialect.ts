// The seam of AI providers: what is known of how one is spoken to. A dialect is a file here and a line in dialects.ts.
import type { Problem } from '@platform/contract';
import type { EndpointTable } from './endpoints.ts';

export interface Usage {
  /** Cached input counts as input. */
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Where a report of usage has its tokens. The members of a list are added; a member has the names that are beside it. */
export interface TokenMembers {
  readonly input: readonly (readonly string[])[];
  readonly output: readonly (readonly string[])[];
}

export interface Dialect {
  readonly name: string;
  /** The header field that carries the key. */
  credential(key: string): readonly [name: string, value: string];
  /** Fields of a request, lower case, that choose among what a key may do, and so are the key owner's business. */
  readonly withheld: ReadonlySet<string>;
  readonly endpoints: EndpointTable;
  /**
   * Where a call goes. The clients of one dialect may disagree on whether its version belongs to the base URL.
   * @param path below the base URL, without leading slash
   * @param base path of the provider's base URL, without trailing slash
   * @returns path below the base URL
   */
  upstreamPath(path: string, base: string): string;
  readonly tokens: TokenMembers;
  /**
   * Which copy of its text an event or a whole answer has, as a stream may repeat its text as a whole: the largest copy
   * counts. `null` for what only announces or holds sounds.
   */
  copyOf(event: unknown): string | null;
  /** The problem document with what the provider's stock clients understand. */
  refusal(problem: Problem): object;
}

/** A member of what may be anything. */
export function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

const ERROR_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
};

/** How both dialects name the kind of an error. */
export function errorType(status: number): string {
  return ERROR_TYPES[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
}
