// Where the bridge is reached: core asks at one path, the homeserver rings at others, each with a token of its own.
import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  MESSAGING_BRIDGE_PATH,
  MESSAGING_BRIDGE_REQUEST,
  MESSAGING_BRIDGE_VERSION,
  type MessagingBridgeErrorCode,
  type MessagingBridgeOperation,
  messagingBridgeNoticesRequest,
  messagingBridgeOperations,
  messagingBridgeRequest,
  RefusalError,
} from '@platform/contract';
import { createStrictServer, faultOf, type IncomingRequest, readBody, sendProblem } from '@platform/http';
import type { Doorbell } from './doorbell.ts';
import { asOperationError, OperationError } from './failure.ts';
import type { Log } from './log.ts';
import type { BridgeMetrics } from './metrics-port.ts';
import type { Asked, AskNotices, Operations } from './operations.ts';

export interface ListenerOptions {
  readonly host: string;
  /** 0 for any that is free. */
  readonly port: number;
  /** Of core. */
  readonly token: string;
  /** Of the homeserver, `hs_token`. */
  readonly homeserverToken: string;
  readonly operations: Operations;
  readonly askNotices: AskNotices;
  readonly doorbell: Doorbell;
  /** Throws while the bridge cannot work. */
  requireReady(): void;
  /** Why it cannot work, or not with the homeserver; `null` where it can. */
  problem(): string | null;
  readonly log: Log;
  readonly metrics: BridgeMetrics;
}

export interface Listener {
  readonly port: number;
  /** Answers what it has, and takes nothing more. */
  close(): Promise<void>;
}

const STATUS: Readonly<Record<MessagingBridgeErrorCode, number>> = {
  not_found: 404,
  no_encryption: 409,
  conflict: 409,
  rate_limited: 429,
  unreachable: 502,
  unavailable: 503,
};
const HOMESERVER_PATH = /^\/_matrix\/app\/v1\/(?:transactions\/[^/]+|ping|users\/[^/]+|rooms\/[^/]+)$/;
/** Bytes of a transaction: a hundred events of 64 KiB, and some more. */
const LONGEST_TRANSACTION = 16 * 1024 * 1024;
const BODY_MS = 30_000;

/** @throws Error when the address cannot be bound */
export async function listen(options: ListenerOptions): Promise<Listener> {
  const { log } = options;
  const ending = new AbortController();
  const server = createStrictServer({
    isOwnHost: () => true,
    // The homeserver names rooms and users in its paths, which have every character, escaped.
    readTarget: (target) => {
      const at = target.indexOf('?');
      return at === -1
        ? { ok: true, path: target, query: '' }
        : { ok: true, path: target.slice(0, at), query: target.slice(at) };
    },
    onRequest(incoming) {
      respond(options, incoming, ending.signal).catch((error: unknown) => {
        if (error instanceof RefusalError) sendProblem(incoming.res, error.refusal);
        else if (!incoming.res.destroyed) {
          log.error(faultOf(error), 'a request to the bridge failed');
          if (!incoming.res.headersSent) sendProblem(incoming.res, { code: 'internal_error' });
        }
      });
      return null;
    },
    onFault: (error) => log.error(faultOf(error), 'a request to the bridge failed'),
  });
  server.listen(options.port, options.host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, 'close');
      server.close();
      // Those that wait for news have none.
      ending.abort();
      server.closeIdleConnections();
      const closing = setInterval(() => server.closeIdleConnections(), 50);
      await closed;
      clearInterval(closing);
    },
  };
}

async function respond(options: ListenerOptions, { req, res, path }: IncomingRequest, ending: AbortSignal) {
  if (path === MESSAGING_BRIDGE_PATH && req.method === 'POST') return answerCore(options, req, res, ending);
  if (HOMESERVER_PATH.test(path)) return answerHomeserver(options, req, res, path);
  sendProblem(res, { code: 'not_found' });
}

async function answerCore(options: ListenerOptions, req: IncomingMessage, res: ServerResponse, ending: AbortSignal) {
  if (!presents(req, options.token)) {
    sendProblem(res, { code: 'unauthenticated' });
    return;
  }
  const gone = new AbortController();
  res.once('close', () => gone.abort());
  const body = parseJson(await readBody(req, { limit: MESSAGING_BRIDGE_REQUEST, milliseconds: BODY_MS }));
  const signal = AbortSignal.any([gone.signal, ending]);
  const version = MESSAGING_BRIDGE_VERSION;
  const notices = messagingBridgeNoticesRequest.safeParse(body);
  if (notices.success) {
    await answered(options, res, 'notices', async () => {
      const result = await options.askNotices(notices.data.input, signal);
      return { version, result };
    });
    return;
  }
  const read = messagingBridgeRequest.safeParse(body);
  if (!read.success) {
    // Whoever asks for nothing, such as the doctor, learns how the bridge is.
    const problem = options.problem();
    if (problem !== null) return sendFailure(res, new OperationError('unavailable', problem));
    sendProblem(res, { code: 'invalid_request', detail: 'This is no request of version 1.' });
    return;
  }
  const { operation, subject, input } = read.data;
  const checked = messagingBridgeOperations[operation].input.safeParse(input);
  if (!checked.success) {
    sendProblem(res, { code: 'invalid_request', detail: `This is no input of ${operation}.` });
    return;
  }
  await answered(options, res, operation, async () => {
    const asked = { subject, input: checked.data, signal } as Asked<MessagingBridgeOperation>;
    const result = await (options.operations[operation] as Operation)(asked);
    return { version, userId: subject.transportUserId, provisioned: true, result };
  });
}

async function answered(
  { requireReady, metrics, log }: ListenerOptions,
  res: ServerResponse,
  operation: MessagingBridgeOperation | 'notices',
  work: () => Promise<object>,
): Promise<void> {
  try {
    requireReady();
    const answer = await work();
    metrics.operated(operation, 'ok');
    sendJson(res, 200, answer);
  } catch (thrown) {
    const error = asOperationError(thrown);
    if (!(error instanceof OperationError)) log.error(faultOf(error), `the operation ${operation} failed`);
    const failure = error instanceof OperationError ? error : UNEXPECTED;
    metrics.operated(operation, failure.code);
    sendFailure(res, failure);
  }
}

function sendFailure(res: ServerResponse, { code, message }: OperationError): void {
  sendJson(res, STATUS[code], { version: MESSAGING_BRIDGE_VERSION, error: { code, message } });
}

type Operation = (asked: Asked<MessagingBridgeOperation>) => Promise<object>;
const UNEXPECTED = new OperationError('unavailable', 'The bridge failed.');

async function answerHomeserver(
  { homeserverToken, doorbell }: ListenerOptions,
  req: IncomingMessage,
  res: ServerResponse,
  path: string,
) {
  if (!presents(req, homeserverToken)) {
    sendJson(res, 403, { errcode: 'M_FORBIDDEN', error: 'Bad token supplied' });
    return;
  }
  const isTransaction = path.startsWith('/_matrix/app/v1/transactions/');
  if (isTransaction || path.endsWith('/ping')) {
    const body = parseJson(await readBody(req, { limit: LONGEST_TRANSACTION, milliseconds: BODY_MS }));
    if (isTransaction) doorbell.ring(body);
    sendJson(res, 200, {});
    return;
  }
  // Accounts are made known beforehand, and rooms have no names here.
  sendJson(res, 404, { errcode: 'M_NOT_FOUND', error: 'Nobody has this name' });
}

function presents(req: IncomingMessage, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(req.headers.authorization ?? ''), digest(`Bearer ${token}`));
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

function sendJson(res: ServerResponse, status: number, body: object): void {
  if (res.destroyed) return;
  const bytes = Buffer.from(JSON.stringify(body));
  res.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.length });
  res.end(bytes);
}
