// Core's way to the backend of an installed app: one request to the node that runs it, which starts it if need be and
// carries the request through its Gateway (docs/decisions/calling-backends.md).
import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import {
  ANSWERED_BY,
  checkRequestTarget,
  type ErrorCode,
  type InstallationId,
  limits,
  nodeRefusal,
  RefusalError,
  refuse,
} from '@platform/contract';
import { isPlatformField, mayTravel } from '@platform/http';
import type { Dispatcher } from 'undici';
import type { CoreContext } from '../context.ts';
import { pausedRefusal, suspendedRefusal } from '../http/paused-refusal.ts';
import { unreviewedRefusal } from '../http/unreviewed-refusal.ts';
import { placeAtFirstUse, placeNow } from '../placement/face.ts';
import { readBytes } from './bounded-body.ts';
import { ControlSide, type ControlTarget } from './control-side.ts';
import { Intake, TooMuchError } from './intake.ts';
import { NodePools, UnreachedError } from './node-pools.ts';
import { type CallRow, type ControlAddress, findCalled } from './node-queries.ts';

export interface BackendRequest {
  readonly method: string;
  /** Path and query as the backend sees them, e.g. `/hooks/daily?full=1`. */
  readonly path: string;
  /**
   * All that the backend sees besides its host and the framing of the body. `Platform-*` fields travel; only core can
   * send them. Default: none.
   */
  readonly headers?: Readonly<Record<string, string>>;
  /** A stream is read as fast as the backend takes it, and destroyed when the call fails. Default: no body. */
  readonly body?: Buffer | Readable;
  /** Ends the call and the body of its answer, up to the backend. `AbortSignal.timeout` is its time limit. */
  readonly signal: AbortSignal;
}

export interface BackendAnswer {
  /** Of the backend, redirects included: none is followed. */
  readonly status: number;
  /** Hostile text, by lower-case name, without cookies and what concerns the connection. */
  readonly headers: IncomingHttpHeaders;
  /** The bytes as they arrive and as `content-encoding` says. Read or destroy it: until its end the call is under way. */
  readonly body: Readable;
  /**
   * The whole body.
   *
   * @throws RefusalError `upstream_failed` when it breaks off or is longer than `limit` bytes, `upstream_timeout`; the
   *   reason of a signal that ended it otherwise
   */
  read(limit: number): Promise<Buffer>;
}

/** A start and the Gateway's own limit for the head of an answer, and what the ways may add. */
const HEAD_MILLISECONDS = (limits.workloadStartSeconds.value + 60 + 10) * 1_000;
const LONGEST_REFUSAL_BYTES = 64 * 1024;
const REFUSAL_MILLISECONDS = 5_000;
/** Of a body that is not read: each of its bytes may have come in a piece of its own. */
const UNREAD_BYTES = 16 * 1024;
const LONGEST_WAIT_SECONDS = 3_600;

/** Refusals of a node that its caller here gets as they are. */
const PASSED = [
  'workload_unavailable',
  'runtime_paused',
  'concurrency_limited',
  'upstream_failed',
  'upstream_timeout',
] as const satisfies readonly ErrorCode[];
/** The node does not know the installation or the credential (yet), or stops: the backend has not seen the request. */
const NOT_DELIVERED: ReadonlySet<string> = new Set<ErrorCode>(['not_found', 'unauthenticated', 'unavailable']);

/** Calls to the backends of installed apps: one for a process. */
export class Backends {
  readonly #context: CoreContext;
  readonly #controlSide: ControlSide;
  readonly #intake: Intake;
  readonly #pools = new NodePools(HEAD_MILLISECONDS);
  readonly #underWay = new Map<InstallationId, number>();

  /**
   * @param localNodeId the node on this very machine, whose loopback addresses mean something here
   * @param intake what this process holds of answers of nodes. Default: one of its own
   */
  constructor(context: CoreContext, localNodeId: () => string | null, intake = new Intake()) {
    this.#context = context;
    this.#controlSide = new ControlSide(context, localNodeId);
    this.#intake = intake;
  }

  /**
   * Sends one request to the backend of an installed app, on whichever node, and starts it if need be. Whether its
   * caller may do so is the caller's to know. Never repeated, here or on the way. Resolves with the head of the answer.
   *
   * @throws RefusalError. The backend has not seen the request: `not_found` for an app that is not installed or has no
   *   backend, `runtime_paused`, `workload_unavailable` when it is stopped, fails or cannot be reached,
   *   `concurrency_limited`, `invalid_path`. It may have: `upstream_failed` without a usable answer, `upstream_timeout`
   *   after 85 s without a head, or when `signal` was aborted by its time limit.
   * @throws the reason of `signal` when it was aborted otherwise; Error for a header that is not the caller's to set
   */
  async call(id: InstallationId, request: BackendRequest): Promise<BackendAnswer> {
    const { signal } = request;
    let end = () => {};
    try {
      checkHead(request);
      end = this.#begin(id);
      signal.throwIfAborted();
      const address = await this.#address(id);
      const target = await this.#controlSide.target(id, address);
      const response = await this.#send(id, target, request);
      // A body that breaks off unread must not end the process.
      response.body.on('error', () => undefined).once('close', end);
      const read = (limit: number) => this.#read(address.node_id, response.body, limit);
      if (response.headers[ANSWERED_BY] !== 'workload') throw await this.#refusal(id, response, read);
      return {
        status: response.statusCode,
        headers: withoutOurs(response.headers),
        body: response.body,
        read: async (limit) => {
          try {
            return await read(limit);
          } catch (error) {
            throw this.#failure(id, error, signal);
          }
        },
      };
    } catch (error) {
      end();
      if (request.body instanceof Readable) request.body.destroy();
      throw this.#failure(id, error, signal);
    }
  }

  close(): Promise<void> {
    return this.#pools.close();
  }

  /** Unresponsive backends share the connections to their node with all others, so none may hold many. */
  #begin(id: InstallationId): () => void {
    const count = this.#underWay.get(id) ?? 0;
    if (count >= limits.backendCalls.value) throw refuse('concurrency_limited', undefined, { retryAfter: 1 });
    this.#underWay.set(id, count + 1);
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      const left = (this.#underWay.get(id) ?? 1) - 1;
      if (left === 0) this.#underWay.delete(id);
      else this.#underWay.set(id, left);
    };
  }

  #send(
    id: InstallationId,
    { origin, base, link, credential }: ControlTarget,
    { method, path, headers, body, signal }: BackendRequest,
  ): Promise<Dispatcher.ResponseData> {
    return this.#pools.to(origin, link).request({
      method,
      path: `${base}/installations/${id}/call${path}`,
      headers: { ...headers, authorization: `Bearer ${credential}` },
      body: body ?? null,
      signal: AbortSignal.any([signal, this.#context.stopping]),
      highWaterMark: UNREAD_BYTES,
    });
  }

  /** The node that runs it, chosen now where it waited for one. */
  async #address(id: InstallationId): Promise<ControlAddress> {
    const { pool } = this.#context;
    let row = callable(await findCalled(pool, id));
    const isPlaced = row.waiting ? placeNow : placeAtFirstUse;
    if (row.node_id === null && (await isPlaced(this.#context, id))) row = callable(await findCalled(pool, id));
    const { node_id, name } = row;
    if (node_id !== null && name !== null) return { ...row, node_id, name };
    if (row.waiting)
      throw refuse('workload_unavailable', 'No machine has room for the backend of this app yet.', { retryAfter: 30 });
    throw this.#controlSide.unavailable(id, 'it is on no node');
  }

  /** The node's refusal as the caller gets it. */
  async #refusal(
    id: InstallationId,
    { statusCode, headers, body }: Dispatcher.ResponseData,
    read: (limit: number) => Promise<Buffer>,
  ): Promise<Error> {
    // Its words are there at once, or it is no node of ours.
    const late = setTimeout(() => body.destroy(), REFUSAL_MILLISECONDS);
    const bytes = await read(LONGEST_REFUSAL_BYTES).finally(() => clearTimeout(late));
    const { code, detail } = problemIn(bytes.toString('utf8'));
    const seconds = Number(headers['retry-after']);
    const more = seconds > 0 ? { retryAfter: Math.min(seconds, LONGEST_WAIT_SECONDS) } : {};
    const passed = PASSED.find((one) => one === code);
    if (passed !== undefined) return refuse(passed, detail, more);
    const unavailable = this.#controlSide.unavailable(id, `it refused a call with ${statusCode} ${code}`);
    return NOT_DELIVERED.has(code) ? unavailable : refuse('upstream_failed');
  }

  /** A whole body. @throws RefusalError `upstream_failed` for one that is longer, or for which there is no room */
  async #read(nodeId: string, body: Readable, limit: number): Promise<Buffer> {
    try {
      const holding = this.#intake.begin(nodeId, (error) => body.destroy(error));
      try {
        return await readBytes(body, { limit, holding });
      } finally {
        holding.end();
      }
    } catch (error) {
      if (!(error instanceof TooMuchError)) throw error;
      body.destroy();
      throw refuse('upstream_failed', `The answer of the backend was not read: ${error.message}.`);
    }
  }

  /** What was thrown on the way as the caller gets it. */
  #failure(id: InstallationId, error: unknown, { aborted, reason }: AbortSignal): unknown {
    if (aborted) return isTimeout(reason) ? refuse('upstream_timeout') : reason;
    if (error instanceof RefusalError || !(error instanceof Error)) return error;
    if (error instanceof UnreachedError)
      return this.#controlSide.unavailable(id, 'it could not be reached', error.cause);
    if (!('code' in error) || error.code === 'UND_ERR_INVALID_ARG') return error;
    this.#context.log.warn({ installationId: id, err: error }, 'a call to a backend failed on the way');
    return refuse(error.code === 'UND_ERR_HEADERS_TIMEOUT' ? 'upstream_timeout' : 'upstream_failed');
  }
}

/** @throws RefusalError `invalid_path`; Error for a header that only the platform itself sets on the way */
function checkHead({ path, headers = {} }: BackendRequest): void {
  if (!checkRequestTarget(path).ok) throw refuse('invalid_path');
  const wrong = Object.keys(headers).find((name) => !mayTravel(name) && !isPlatformField(name));
  if (wrong !== undefined) throw new Error(`a call to a backend cannot set ${wrong}`);
}

/** @throws RefusalError when its owner or the platform wants it not to run */
function callable(row: CallRow | undefined): CallRow {
  if (row === undefined) throw refuse('not_found');
  if (!row.has_workload) throw refuse('not_found', 'This app has no backend.');
  if (row.unreviewed) throw unreviewedRefusal();
  if (row.paused) throw pausedRefusal();
  if (row.suspended) throw suspendedRefusal();
  if (row.stopped)
    throw refuse('workload_unavailable', 'The backend of this app was stopped. Its owner can start it in Settings.');
  return row;
}

/** Fields of the node listener, and of the connection to it. */
const OURS: ReadonlySet<string> = new Set([
  ...[ANSWERED_BY, 'x-request-id', 'x-content-type-options'],
  ...['connection', 'keep-alive', 'transfer-encoding'],
]);

function withoutOurs(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OURS.has(name)));
}

function problemIn(text: string): { readonly code: string; readonly detail?: string } {
  const refusal = nodeRefusal.safeParse(parseJson(text));
  if (!refusal.success) return { code: 'without a problem document' };
  const { code, detail } = refusal.data;
  return { code, ...(detail === undefined ? {} : { detail }) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // which is no problem document
  }
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof DOMException && reason.name === 'TimeoutError';
}
