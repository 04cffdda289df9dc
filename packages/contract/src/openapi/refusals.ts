// Which refusals an operation answers with: those that follow from its entry in the route table, and those that the entry names
// itself. A response for each status, with the codes that it may carry.
import { confirmedBy, type RouteSpec } from '../domain.ts';
import { errors } from '../domains.ts';
import type { ErrorCode } from '../errors.ts';
import type { Json } from './json.ts';

/** Of every listener of the platform, whatever is behind it. */
export const EVERYWHERE = [
  'invalid_request',
  'invalid_path',
  'head_too_large',
  'rate_limited',
  'unknown_host',
  'unavailable',
] as const satisfies readonly ErrorCode[];

/** Every refusal of a route, but `internal_error`, which is a bug. */
export function refusalsOf(spec: RouteSpec): ErrorCode[] {
  const { callers, body } = spec;
  // Pages of other origins are turned away from everything.
  const codes = new Set<ErrorCode>([...EVERYWHERE, 'origin_not_allowed']);
  const add = (condition: boolean, ...more: ErrorCode[]): void => {
    if (condition) for (const code of more) codes.add(code);
  };
  const forApps = callers.some((kind) => kind === 'frontend' || kind === 'installation');
  add(!callers.includes('anonymous'), 'unauthenticated', 'not_authorized');
  add(callers.includes('session'), 'session_expired', 'session_replaced');
  add(callers.includes('session') && spec.whileClosing !== true, 'account_closing');
  add(spec.grant !== undefined, 'grant_missing');
  add(forApps && spec.whilePaused !== true, 'runtime_paused', 'workload_unavailable');
  add(spec.params !== undefined, 'not_found');
  add(isPaged(spec), 'invalid_cursor');
  add(confirmedBy(spec).length > 0, 'verification_failed');
  add(body !== undefined, 'payload_too_large', 'unsupported_media_type', 'concurrency_limited');
  add(body !== undefined && 'refusesSecrets' in body, 'forbidden_material');
  // What a Gateway is asked for on the way, it answers itself.
  add(
    callers.includes('installation') && !spec.path.startsWith('/v1/gateway/'),
    'concurrency_limited',
    'upstream_failed',
  );
  add(callers.includes('installation') && !spec.path.startsWith('/v1/gateway/'), 'upstream_timeout');
  for (const code of spec.refuses ?? []) codes.add(code as ErrorCode);
  return [...codes];
}

/** Whether it is read page by page. */
function isPaged({ query }: RouteSpec): boolean {
  return query?.safeParse({ cursor: 'x' }).success === true && !query.safeParse({ cursor: 1 }).success;
}

/** The responses of all operations, each once under a name made of its codes. */
export class RefusalResponses {
  readonly #named = new Map<string, Json>();

  /**
   * By status.
   *
   * @param codes of one operation
   * @param passedFrom who else may answer with these statuses, in forms of its own. Default: nobody
   */
  of(codes: readonly ErrorCode[], passedFrom?: string): Json {
    const byStatus = Object.groupBy(codes, (code) => errors[code].status);
    return Object.fromEntries(
      Object.entries(byStatus).map(([status, some = []]) => [status, this.#response(Number(status), some, passedFrom)]),
    );
  }

  #response(status: number, codes: readonly ErrorCode[], passedFrom: string | undefined): Json {
    const sorted = [...new Set(codes)].sort();
    const passed = passedFrom === undefined ? '' : `.${passedFrom.replaceAll(' ', '-')}`;
    const name = `${sorted.join('.')}${passed}`;
    if (!this.#named.has(name)) this.#named.set(name, problemResponse(status, sorted, passedFrom));
    return { $ref: `#/components/responses/${name}` };
  }

  /** For `components.responses`. */
  named(): Json {
    return Object.fromEntries([...this.#named].sort(([one], [other]) => (one < other ? -1 : 1)));
  }
}

function problemResponse(status: number, codes: readonly ErrorCode[], passedFrom: string | undefined): Json {
  const problem = { $ref: '#/components/schemas/problem' };
  const narrowed = { type: 'object', properties: { status: { const: status }, code: { enum: codes } } };
  return {
    description: [
      ...codes.map((code) => `\`${code}\`: ${errors[code].title}`),
      ...(passedFrom === undefined ? [] : [`Or as ${passedFrom} answers.`]),
    ].join(' '),
    content: {
      'application/problem+json': { schema: { allOf: [problem, narrowed] } },
      ...(passedFrom === undefined ? {} : { '*/*': {} }),
    },
  };
}

export const problemSchema: Json = {
  type: 'object',
  description: 'RFC 9457 problem document.',
  required: ['type', 'title', 'status', 'detail', 'code', 'requestId'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    code: { type: 'string', enum: Object.keys(errors).sort() },
    requestId: { type: 'string' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: { path: { type: 'string' }, message: { type: 'string' } },
      },
    },
  },
};
