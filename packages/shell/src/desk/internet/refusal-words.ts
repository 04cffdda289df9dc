// Why requests from the internet were refused, in words that the owner of an app understands.
import type { ErrorCode } from '@platform/contract';

const WORDS: Partial<Record<ErrorCode, string>> = {
  not_found: 'A path or method that is not open',
  invalid_path: 'A path that could be read in two ways',
  invalid_request: 'Not a valid request',
  rate_limited: 'Too many from one address',
  concurrency_limited: 'Too many at the same time',
  payload_too_large: 'More data than is allowed',
  head_too_large: 'Header fields that are too large',
  workload_unavailable: 'The app’s backend wasn’t running',
  runtime_paused: 'The app’s backend wasn’t running',
  upstream_failed: 'The app’s backend failed while answering',
  upstream_timeout: 'The app’s backend took too long',
  unavailable: 'The platform was starting or stopping',
};

/** @param code one that this page may not know */
export function refusalInWords(code: string): string {
  const known = Object.entries(WORDS).find(([one]) => one === code);
  return known === undefined ? `Other: ${code.replaceAll('_', ' ')}` : known[1];
}
