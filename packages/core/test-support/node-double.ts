// The control side of a node, for tests of core alone: a real HTTP server that speaks the agreed protocol, remembers
// what it was asked, and answers what the test wants. The real Runtime is in the whole-system tests.
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { InstallationDetail } from '@platform/contract';
import type { Constellation } from '../../../tests/support/constellation.ts';
import { bearer } from './apps.ts';

export interface ControlCall {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
}

/** One to a backend, or whatever else came, with all that it brought. */
export interface WholeCall extends ControlCall {
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

export interface ControlAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; a string as it is; a function writes the rest of the answer itself. */
  readonly body?: unknown;
}

/** An answer that the test writes line by line. */
export interface StreamedAnswer {
  readonly answer: ControlAnswer;
  write(line: string): void;
  /** Resolves when the connection takes more. */
  writeAll(line: string): Promise<void>;
  isOpen(): boolean;
  end(): void;
  /** Resolves when core has gone away. */
  readonly left: Promise<void>;
}

export interface NodeDouble {
  readonly calls: readonly ControlCall[];
  /** The same calls with their headers and bodies. */
  readonly wholeCalls: readonly WholeCall[];
  readonly controlUrl: string;
  /** What it answers from now on; default is a running workload. */
  answer: (call: WholeCall) => ControlAnswer;
  stream(): StreamedAnswer;
  close(): Promise<void>;
}

export const controlCredential = 'control-credential-of-the-test-node';

/** Starts the server and registers it as the local node. */
export async function startNodeDouble(constellation: Constellation): Promise<NodeDouble> {
  const calls: ControlCall[] = [];
  const wholeCalls: WholeCall[] = [];
  const server = http.createServer(async (request, response) => {
    const body = (await buffer(request)).toString('utf8');
    const call = {
      method: request.method ?? '',
      path: request.url ?? '',
      authorization: request.headers.authorization,
    };
    const whole = { ...call, headers: request.headers, body };
    calls.push(call);
    wholeCalls.push(whole);
    const answer = double.answer(whole);
    response.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers });
    if (typeof answer.body === 'function') answer.body(response);
    else response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body));
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const controlUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/control`;
  const double = {
    calls,
    controlUrl,
    wholeCalls,
    answer: (call: WholeCall): ControlAnswer =>
      call.method === 'DELETE' ? { status: 204, body: '' } : { body: statusOf(call) },
    stream: streamedAnswer,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  await register(constellation, controlUrl);
  return double;
}

function streamedAnswer(): StreamedAnswer {
  const left = Promise.withResolvers<void>();
  const waiting: string[] = [];
  let response: http.ServerResponse | undefined;
  const body = (opened: http.ServerResponse) => {
    response = opened;
    opened.on('close', () => left.resolve());
    opened.flushHeaders();
    for (const line of waiting) opened.write(line);
  };
  return {
    answer: { headers: { 'content-type': 'application/x-ndjson' }, body },
    write(line) {
      if (response === undefined) waiting.push(`${line}\n`);
      else response.write(`${line}\n`);
    },
    async writeAll(line) {
      if (response?.write(`${line}\n`) === false) await once(response, 'drain');
    },
    isOpen: () => response !== undefined,
    end: () => void response?.end(),
    left: left.promise,
  };
}

export async function register(
  constellation: Constellation,
  controlUrl: string,
  inboundOrigin = constellation.core.context.config.nodeOrigin,
): Promise<void> {
  const { nodeCredential } = constellation.core.localNode;
  const body = { controlUrl, controlCredential, inboundOrigin };
  const answer = await bearer(constellation, nodeCredential, '/v1/node/register', body);
  if (answer.status !== 204) throw new Error(`the node could not register: ${answer.text}`);
}

/** A running workload, under the id in the path of the call. */
export function statusOf({ path }: ControlCall, more: Partial<InstallationDetail> = {}): object {
  const installationId = /inst-[0-9a-f-]{36}/.exec(path)?.[0];
  return {
    installationId,
    state: 'running',
    since: '2026-11-21T10:00:00.000Z',
    restarts: 0,
    lastExit: null,
    unenforced: [],
    usage: null,
    ...more,
  };
}
