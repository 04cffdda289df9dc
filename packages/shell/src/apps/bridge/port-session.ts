// One port to one document of an app: reads requests, answers each exactly once, and stays calm under a flood.
import type { BridgeEvent, BridgeResponse, ErrorCode } from '@platform/contract';
import { isPlainObject, requirePlainData } from './plain-data.ts';
import { BridgeRefusal } from './refusal.ts';

/** What a DOM MessagePort and the one of node:worker_threads have in common. */
export interface Port {
  postMessage(message: unknown): void;
  close(): void;
  start(): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
}

export const PORT_LIMITS = {
  /** Calls answered at the same time; further ones wait. */
  running: 8,
  /** Calls that may wait; further ones are refused at once. */
  waiting: 64,
  /** Requests in one window of ten seconds; further ones are refused at once. */
  burst: 400,
  windowMs: 10_000,
  /** Refusals of the kinds above in one window after which the port is closed for good. */
  patience: 2_000,
} as const;

export interface PortSessionOptions {
  readonly port: Port;
  readonly answer: (method: string, params: unknown) => Promise<unknown>;
  /** Milliseconds; need not be the time of day. */
  readonly now: () => number;
  /** The app did not stop flooding and was cut off. */
  readonly onFlood: () => void;
  /** A bug of ours while answering; the app only learns `internal_error`. */
  readonly onBug: (error: unknown) => void;
}

export interface PortSession {
  send(event: BridgeEvent): void;
  close(): void;
}

interface Request {
  readonly id: number;
  readonly method: string;
  readonly params: unknown;
}

/** Reads a request; an unreadable id cannot be answered and gives `null`. */
function readRequest(data: unknown): Request | { readonly id: number; readonly refusal: BridgeRefusal } | null {
  if (!isPlainObject(data)) return null;
  const { id, method, params } = data;
  if (typeof id !== 'number' || !Number.isSafeInteger(id) || id < 0) return null;
  const refuse = (refusal: BridgeRefusal) => ({ id, refusal });
  if (typeof method !== 'string' || method.length > 64) {
    return refuse(new BridgeRefusal('invalid_request', 'A request needs a method name.'));
  }
  if (Object.keys(data).some((key) => key !== 'id' && key !== 'method' && key !== 'params')) {
    return refuse(new BridgeRefusal('invalid_request', 'A request may hold only id, method and params.'));
  }
  try {
    requirePlainData(params);
  } catch (error) {
    if (error instanceof BridgeRefusal) return refuse(error);
    throw error;
  }
  return { id, method, params };
}

function codedError(error: unknown): { code: ErrorCode; message: string } | null {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return null;
  // BridgeRefusal and the client's ApiError are the only coded errors thrown below; both take codes of the table.
  return { code: error.code as ErrorCode, message: error.message };
}

export function servePort(options: PortSessionOptions): PortSession {
  const { port, answer, now, onFlood, onBug } = options;
  const waiting: Request[] = [];
  const known = new Set<number>();
  let running = 0;
  let closed = false;
  let windowStart = now();
  let requests = 0;
  let refusals = 0;

  function post(message: BridgeResponse | BridgeEvent): void {
    if (!closed) port.postMessage(message);
  }

  function refuse(id: number, code: ErrorCode, message: string): void {
    post({ id, error: { code, message } });
  }

  /** Counts what an app should never cause; past the patience the port goes, and with it every further message. */
  function countRefusal(): void {
    refusals += 1;
    if (refusals < PORT_LIMITS.patience) return;
    close();
    onFlood();
  }

  async function run(request: Request): Promise<void> {
    running += 1;
    try {
      post({ id: request.id, result: (await answer(request.method, request.params)) ?? null });
    } catch (error) {
      const coded = codedError(error);
      if (coded === null) onBug(error);
      refuse(request.id, coded?.code ?? 'internal_error', coded?.message ?? 'The shell could not answer this call.');
    } finally {
      running -= 1;
      known.delete(request.id);
      const next = closed ? undefined : waiting.shift();
      if (next !== undefined) void run(next);
    }
  }

  function receive(data: unknown): void {
    if (closed) return;
    if (now() - windowStart >= PORT_LIMITS.windowMs) {
      windowStart = now();
      requests = 0;
      refusals = 0;
    }
    requests += 1;
    const request = readRequest(data);
    if (request === null) {
      countRefusal();
    } else if (requests > PORT_LIMITS.burst) {
      refuse(request.id, 'rate_limited', 'Too many calls; wait a few seconds.');
      countRefusal();
    } else if ('refusal' in request) {
      refuse(request.id, request.refusal.code, request.refusal.message);
    } else {
      admit(request);
    }
  }

  function admit(request: Request): void {
    if (known.has(request.id)) {
      refuse(request.id, 'invalid_request', 'A call with this id is already in progress.');
    } else if (running < PORT_LIMITS.running) {
      known.add(request.id);
      void run(request);
    } else if (waiting.length < PORT_LIMITS.waiting) {
      known.add(request.id);
      waiting.push(request);
    } else {
      refuse(request.id, 'concurrency_limited', 'Too many concurrent calls; wait for one to finish.');
      countRefusal();
    }
  }

  function close(): void {
    if (closed) return;
    closed = true;
    waiting.length = 0;
    port.close();
  }

  port.addEventListener('message', (event) => receive(event.data));
  port.start();
  return { send: post, close };
}
