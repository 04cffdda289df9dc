// A thread that parses the bodies that body-pool.ts hands to it.
import { type JsonBody, type Refusal, RefusalError, type RouteId, type RouteSpec, routes } from '@platform/contract';
import { serveJobs } from '../background/thread-jobs.ts';
import { parseBody } from './parse-body.ts';

export interface BodyJob {
  readonly route: RouteId;
  readonly bytes: Uint8Array;
}

export type ParsedBody = { readonly value: unknown } | { readonly refusal: Refusal };

serveJobs(({ route, bytes }: BodyJob): ParsedBody => {
  try {
    return { value: parseBody(bytes, bodyOf(route)) };
  } catch (error) {
    if (error instanceof RefusalError) return { refusal: error.refusal };
    throw error;
  }
});

function bodyOf(route: RouteId): JsonBody {
  const { body }: RouteSpec = routes[route];
  if (body === undefined || 'mediaType' in body) throw new Error(`${route} takes no JSON`);
  return body;
}
