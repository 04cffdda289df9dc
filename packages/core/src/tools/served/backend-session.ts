// The official client of the protocol over core's own way to the backend of an app. One session is one piece of work: nothing is held
// open at a backend, which would keep it awake.

import {
  Client,
  type JsonSchemaValidator,
  type jsonSchemaValidator,
  type PriorDiscovery,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { LRUCache } from 'lru-cache';
import type { CoreContext } from '../../context.ts';
import { PLATFORM_VERSION } from '../../version.ts';
import type { ServingRow } from '../queries.ts';
import { BackendFetch, type SessionOptions } from './backend-fetch.ts';
import { readTools } from './offer.ts';
import { readPrompts, readResources, readTemplates } from './offered-content.ts';

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
  work: (client: Client, over: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const { capabilities = {}, onLog } = options;
  const verdict = `${serving.id}@${serving.version}`;
  const prior = verdicts.get(verdict);
  const backend = new BackendFetch(context, serving.id, options);
  const transport = new StreamableHTTPClientTransport(new URL(serving.path, NOWHERE), { fetch: backend.fetch });
  sift(transport);
  const client = new Client(
    { name: 'platform', version: PLATFORM_VERSION },
    {
      // One of an earlier revision would send requests of its own, which nobody could answer.
      capabilities: prior?.kind === 'legacy' ? {} : capabilities,
      versionNegotiation: { mode: 'auto' },
      inputRequired: { autoFulfill: false },
      jsonSchemaValidator: unchecked,
    },
  );
  if (onLog !== undefined) client.setNotificationHandler('notifications/message', ({ params }) => onLog(params));
  try {
    await client.connect(transport, { signal: backend.over, ...(prior === undefined ? {} : { prior }) });
    const discover = client.getDiscoverResult();
    verdicts.set(verdict, discover === undefined ? { kind: 'legacy' } : { kind: 'modern', discover });
    return await work(client, backend.over);
  } catch (error) {
    verdicts.delete(verdict);
    // The client wraps what its transport threw.
    throw backend.refusal ?? error;
  } finally {
    if (transport.sessionId !== undefined) await transport.terminateSession().catch(() => undefined);
    await client.close().catch(() => undefined);
    backend.close();
  }
}

/** Takes out of lists what is no definition: the client refuses the whole list for one of them. */
function sift(transport: Transport): void {
  let given: Transport['onmessage'];
  Object.defineProperty(transport, 'onmessage', {
    get: () => given,
    set(taking: Transport['onmessage']) {
      given = taking && ((message, extra) => taking(sifted(message), extra));
    },
  });
}

/** By the member of a result that holds the list. */
const LISTS: Readonly<Record<string, (listed: readonly unknown[]) => object[]>> = {
  tools: readTools,
  resources: readResources,
  resourceTemplates: readTemplates,
  prompts: readPrompts,
};

function sifted<Message extends object>(message: Message): Message {
  const { result } = message as { readonly result?: Readonly<Record<string, unknown>> };
  // A call of a tool may answer with members of the same names.
  if (typeof result !== 'object' || result === null || 'content' in result) return message;
  const read = Object.entries(LISTS).flatMap(([member, readList]) => {
    const listed = result[member];
    return Array.isArray(listed) ? [[member, readList(listed)] as const] : [];
  });
  return read.length === 0 ? message : { ...message, result: { ...result, ...Object.fromEntries(read) } };
}
