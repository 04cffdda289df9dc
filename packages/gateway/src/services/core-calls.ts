// What the Gateway itself requests of core: whether a call may be made, and with which secret. Under /v1/gateway, which
// no path of a workload leads to.
import { type ErrorCode, errors, type Refusal } from '@platform/contract';
import * as z from 'zod';
import { type CorePool, claimCorePool } from '../upstream-pools.ts';
import type { ServiceContext } from './service.ts';

export interface CoreCalls {
  /**
   * POSTs `body` to `path` and returns the answer as `shape` reads it.
   *
   * @throws CoreRefusal when core refuses, with its words and its `Retry-After`; `unavailable` when core cannot be
   *   reached, has an internal error, or answers something else
   */
  post<Shape extends z.ZodType>(path: `/v1/gateway/${string}`, body: object, shape: Shape): Promise<z.output<Shape>>;
  close(): Promise<void>;
}

/** What the workload is answered in place of what it requested. */
export class CoreRefusal extends Error {
  override readonly name = 'CoreRefusal';
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.code);
    this.refusal = refusal;
  }
}

const TIMEOUT_MS = 10_000;
const LARGEST_ANSWER = 256 * 1024;
const UNREACHABLE: Refusal = { code: 'unavailable', retryAfter: 1 };

const problem = z.object({
  code: z.custom<ErrorCode>((code) => typeof code === 'string' && Object.hasOwn(errors, code)),
  detail: z.string().optional(),
});

export function openCoreCalls(context: ServiceContext): CoreCalls {
  const pool = claimCorePool(context);
  return {
    async post(path, body, shape) {
      const { status, retryAfter, text } = await send(pool, context, path, body);
      const answer = parse(text);
      if (status >= 200 && status < 300) return read(shape, answer);
      const refused = problem.safeParse(answer).data;
      // A code under another status is not from core, but from something before it.
      if (refused === undefined || errors[refused.code].status !== status || refused.code === 'internal_error')
        throw new CoreRefusal(UNREACHABLE);
      const { code, detail } = refused;
      throw new CoreRefusal({
        code,
        ...(detail === undefined ? {} : { detail }),
        ...(retryAfter === null ? {} : { retryAfter }),
      });
    },
    close: () => pool.release(),
  };
}

interface Answer {
  readonly status: number;
  /** Seconds. */
  readonly retryAfter: number | null;
  readonly text: string;
}

async function send(pool: CorePool, context: ServiceContext, path: string, body: object): Promise<Answer> {
  try {
    const response = await pool.get().request({
      method: 'POST',
      path,
      headers: {
        authorization: `Bearer ${context.coreServiceCredential}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
    });
    const text = await response.body.text();
    const after = Number(response.headers['retry-after']);
    const retryAfter = Number.isInteger(after) && after > 0 ? after : null;
    return { status: response.statusCode, retryAfter, text: text.length > LARGEST_ANSWER ? '' : text };
  } catch (error) {
    context.onFailure({
      upstream: 'core',
      code: 'upstream_failed',
      method: 'POST',
      path,
      requestId: null,
      reason: error instanceof Error && 'code' in error ? String(error.code) : 'unknown',
    });
    throw new CoreRefusal(UNREACHABLE);
  }
}

function parse(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return undefined; // which no shape takes
  }
}

function read<Shape extends z.ZodType>(shape: Shape, answer: unknown): z.output<Shape> {
  const result = shape.safeParse(answer);
  if (result.success) return result.data;
  throw new CoreRefusal(UNREACHABLE);
}
