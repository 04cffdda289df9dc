// The official client of the protocol over core's own way to the backend of an app. One session is one piece of work: nothing is held
// open at a backend, which would keep it awake.

import { Readable } from 'node:stream';
import {
  Client,
  type FetchLike,
  type JsonSchemaValidator,
  type jsonSchemaValidator,
  type PriorDiscovery,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { limits, RefusalError, refuse } from '@platform/contract';
import { LRUCache } from 'lru-cache';
import type { CoreContext } from '../../context.ts';
import { PLATFORM_VERSION } from '../../version.ts';
import type { ServingRow } from '../queries.ts';

export interface SessionOptions {
  /** The app that calls; `null` for the platform itself, which lists. */
  readonly caller: string | null;
  /** Opaque to the backend, which sends it on with calls that it makes meanwhile. */
  readonly chain?: string;
  /** Ends whatever is under way. */
  readonly signal: AbortSignal;
  /** Called at each sign of life: the head of an answer, and every piece of it. */
  readonly alive?: () => void;
}

/** Bytes of all answers of a session, beside the result: progress, and what frames them. */
const BESIDES = 1_024 * 1_024;
const VERDICT_MILLISECONDS = 600_000;
/** Nothing is there; the path alone counts. */
const NOWHERE = 'http://backend.invalid';

/** Which revision a backend speaks, by installation and version. */
const verdicts = new LRUCache<string, PriorDiscovery>({ max: 5_000, ttl: VERDICT_MILLISECONDS });

/** Checks nothing: the hub does, within a time (check-values.ts). */
const unchecked: jsonSchemaValidator = {
  getValidator<Value>(): JsonSchemaValidator<Value> {
    return (value) => ({ valid: true, data: value as Value, errorMessage: undefined });
  },
};

/**
 * Works with the server of a backend, which starts if need be.
 *
 * @throws RefusalError when the backend cannot be reached; an error of the client's when it answers wrongly
 */
export async function withBackend<Result>(
  context: CoreContext,
  serving: Pick<ServingRow, 'id' | 'version' | 'path'>,
  options: SessionOptions,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const verdict = `${serving.id}@${serving.version}`;
  const refusals: RefusalError[] = [];
  const transport = new StreamableHTTPClientTransport(new URL(serving.path, NOWHERE), {
    fetch: fetching(context, serving, options, (refusal) => refusals.push(refusal)),
  });
  const client = new Client(
    { name: 'platform', version: PLATFORM_VERSION },
    {
      capabilities: {},
      versionNegotiation: { mode: 'auto' },
      inputRequired: { autoFulfill: false },
      jsonSchemaValidator: unchecked,
    },
  );
  const prior = verdicts.get(verdict);
  try {
    await client.connect(transport, { signal: options.signal, ...(prior === undefined ? {} : { prior }) });
    const discover = client.getDiscoverResult();
    verdicts.set(verdict, discover === undefined ? { kind: 'legacy' } : { kind: 'modern', discover });
    return await work(client);
  } catch (error) {
    verdicts.delete(verdict);
    // The client wraps what its transport threw.
    throw refusals[0] ?? error;
  } finally {
    if (transport.sessionId !== undefined) await transport.terminateSession().catch(() => undefined);
    await client.close().catch(() => undefined);
  }
}

function fetching(
  context: CoreContext,
  { id }: Pick<ServingRow, 'id'>,
  { caller, chain, signal, alive = () => undefined }: SessionOptions,
  refused: (refusal: RefusalError) => void,
): FetchLike {
  let left = limits.toolResult.value + BESIDES;
  return async (url, init = {}) => {
    const { method = 'GET' } = init;
    // A stream of its own, that would keep the backend awake.
    if (method === 'GET') return new Response(null, { status: 405 });
    const headers = Object.fromEntries(new Headers(init.headers as HeadersInit));
    const { pathname, search } = new URL(url);
    try {
      const answer = await context.backends.call(id, {
        method,
        path: pathname + search,
        headers: {
          ...headers,
          ...(caller === null ? {} : { 'platform-caller': caller }),
          ...(chain === undefined ? {} : { 'platform-tool-chain': chain }),
        },
        ...(typeof init.body === 'string' ? { body: Buffer.from(init.body) } : {}),
        signal: init.signal == null ? signal : AbortSignal.any([signal, init.signal]),
      });
      alive();
      answer.body.on('data', (piece: Buffer) => {
        alive();
        left -= piece.length;
        if (left >= 0) return;
        const tooLong = refuse('upstream_failed', `The app answered with more than ${limits.toolResult.value} bytes.`);
        refused(tooLong);
        answer.body.destroy(tooLong);
      });
      answer.body.pause();
      const hasBody = answer.status !== 202 && answer.status !== 204 && answer.status !== 304;
      if (!hasBody) answer.body.resume();
      return new Response(hasBody ? (Readable.toWeb(answer.body) as ReadableStream<Uint8Array>) : null, {
        status: answer.status,
        headers: fieldsOf(answer.headers),
      });
    } catch (error) {
      if (error instanceof RefusalError) refused(error);
      throw error;
    }
  };
}

function fieldsOf(headers: object): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' ? [[name, value]] : [],
  );
}
