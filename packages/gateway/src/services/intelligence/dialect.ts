// The seam of AI providers: what is known of how one is spoken to. A dialect is a file here and a line in dialects.ts.
import type { Problem } from '@platform/contract';
import type { EndpointTable } from './endpoints.ts';

export interface Usage {
  /** Cached input counts as input. */
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Reads the events of one streamed answer. */
export interface StreamReader {
  /** @param event parsed `data` of a server-sent event */
  event(event: unknown): void;
  /** As last reported; `null` before the provider has reported all of it. */
  usage(): Usage | null;
  /** UTF-8 bytes of the text that was streamed. */
  textBytes(): number;
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
  /** Usage that a whole answer reports; `null` for none. */
  usageOf(answer: unknown): Usage | null;
  /** UTF-8 bytes of the text in a whole answer. */
  textBytesOf(answer: unknown): number;
  openStream(): StreamReader;
  /** Whether an event reports usage and nothing else. */
  isUsageOnly(event: unknown): boolean;
  /** The problem document with what the provider's stock clients understand. */
  refusal(problem: Problem): object;
}

/** A provider that reports more than this for one call is not believed. */
const MOST_TOKENS = 100_000_000;

/** The sum of members that are whole numbers; `null` when the first is missing or any is absurd. */
export function tokensOf(first: unknown, ...more: readonly unknown[]): number | null {
  let sum = 0;
  for (const value of [first, ...more.map((one) => one ?? 0)]) {
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 0) return null;
    sum += value;
  }
  return sum <= MOST_TOKENS ? sum : null;
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

/** UTF-8 bytes of all strings in a value: for text in members of any shape. */
export function stringBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value !== 'object' || value === null) return 0;
  let bytes = 0;
  for (const one of Object.values(value)) bytes += stringBytes(one);
  return bytes;
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
