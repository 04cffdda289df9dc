// Conditional requests for one thing that is there or not (RFC 9110, section 13).
import type { IncomingHttpHeaders } from 'node:http';
import { refuse } from '@platform/contract';

/** A list of entity tags, with nothing else in it. */
const LIST = /^(?:W\/)?"[\x21\x23-\x7e]*"(?:[ \t]*,[ \t]*(?:W\/)?"[\x21\x23-\x7e]*")*$/;
const TAG = /(?:W\/)?"[\x21\x23-\x7e]*"/g;

export interface Conditions {
  readonly ifMatch: string | null;
  readonly ifNoneMatch: string | null;
}

/** @throws RefusalError `invalid_request` for what is no list of entity tags */
export function conditionsOf(headers: IncomingHttpHeaders): Conditions {
  return {
    ifMatch: checked('If-Match', headers['if-match']),
    ifNoneMatch: checked('If-None-Match', headers['if-none-match']),
  };
}

function checked(name: string, value: string | undefined): string | null {
  if (value === undefined) return null;
  const text = value.trim();
  if (text === '*' || LIST.test(text)) return text;
  throw refuse('invalid_request', `${name} must be * or entity tags as they came, with their quotation marks.`);
}

/** Whether the condition of a change holds. @param etag of what is there; `null` when nothing is */
export function holds({ ifMatch, ifNoneMatch }: Conditions, etag: string | null): boolean {
  // By strong comparison: a weak tag names no version to build on.
  if (ifMatch !== null && !names(ifMatch, etag, { weak: false })) return false;
  return ifNoneMatch === null || !names(ifNoneMatch, etag, { weak: true });
}

/** What a reader gets: `same` is what it has already. */
export function readingOf({ ifMatch, ifNoneMatch }: Conditions, etag: string): 'whole' | 'same' | 'failed' {
  if (ifMatch !== null && !names(ifMatch, etag, { weak: false })) return 'failed';
  return ifNoneMatch !== null && names(ifNoneMatch, etag, { weak: true }) ? 'same' : 'whole';
}

function names(list: string, etag: string | null, { weak }: { readonly weak: boolean }): boolean {
  if (etag === null) return false;
  if (list === '*') return true;
  const tags: readonly string[] = list.match(TAG) ?? [];
  return tags.some((tag) => (weak ? tag.replace(/^W\//, '') : tag) === etag);
}

export function preconditionFailed() {
  return refuse('precondition_failed', 'Somebody else changed it meanwhile. Read it again, and decide anew.');
}
