// A thread that parses the bodies that body-pool.ts hands to it.
import { type JsonBody, type Refusal, RefusalError, type RouteId, type RouteSpec, routes } from '@platform/contract';
import { serveJobs } from '../../background/thread-jobs.ts';
import { checkItems } from './items-file.ts';
import { parseBody } from './parse-body.ts';

export type BodyJob =
  | { readonly kind: 'whole'; readonly route: RouteId; readonly bytes: Uint8Array }
  /** The body lies in the file `from`; its items are written to `to`. */
  | { readonly kind: 'items'; readonly route: RouteId; readonly from: string; readonly to: string };

/** The value of a whole body, or the keys of items. */
export type ParsedBody = { readonly value: unknown } | { readonly refusal: Refusal };

serveJobs((job: BodyJob): ParsedBody => {
  try {
    const body = bodyOf(job.route);
    return { value: job.kind === 'whole' ? parseBody(job.bytes, body) : checkItems(body, job.from, job.to) };
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
