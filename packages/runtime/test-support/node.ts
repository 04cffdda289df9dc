// One node for tests: a real Runtime with real sandboxes and the real Gateway, a held clock, and core's double.
import { randomBytes } from 'node:crypto';
import http from 'node:http';
import type { Assignment, NodeLease } from '@platform/contract';
import { startGateway } from '../../../tests/support/gateway.ts';
import type { Log } from '../src/clock.ts';
import { type Runtime, type RuntimeOptions, startRuntime } from '../src/runtime.ts';
import { type CoreDouble, capabilityFor, startCoreDouble } from './core-double.ts';
import { type HeldClock, holdClock } from './held-clock.ts';
import { makePlace, type Place } from './place.ts';

export interface TestNode {
  readonly place: Place;
  readonly core: CoreDouble;
  readonly clock: HeldClock;
  readonly runtime: Runtime;
  /** Lines of the operator's log, as JSON. */
  readonly logged: string[];
  /** A request to the backend as the app's own page makes it; `headers` replace its headers. */
  call(assignment: Assignment, path?: string, options?: CallOptions): Promise<Answer>;
  close(): Promise<void>;
}

export interface CallOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

export interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
}

export const NODE_HOST = 'node.platform.localhost:8788';

export async function startTestNode(
  options: Partial<RuntimeOptions> & { place?: Place; lease?: NodeLease } = {},
): Promise<TestNode> {
  const place = options.place ?? makePlace();
  const clock = holdClock();
  const core = await startCoreDouble(clock.now);
  if (options.lease !== undefined) core.answerHeartbeats(options.lease);
  const logged: string[] = [];
  const write = (fields: object, message: string) =>
    void logged.push(`${message} ${JSON.stringify(fields, errorText)}`);
  const log: Log = { debug: write, info: write, warn: write, error: write };
  const runtime = await startRuntime({
    dataDirectory: place.folder,
    coreOrigin: core.origin,
    coreHost: 'core.test',
    nodeCredential: core.nodeCredential,
    nodeOrigin: `http://${NODE_HOST}`,
    listenHost: '127.0.0.1',
    listenPort: 0,
    clock: clock.now,
    after: clock.after,
    elapsed: clock.elapsed,
    random: randomBytes,
    log,
    startGateway,
    ...options,
  });
  await runtime.registered;
  return {
    place,
    core,
    clock,
    runtime,
    logged,
    call: (assignment, path = '/', call = {}) =>
      request(runtime.listenerPort, `/e/${assignment.endpointId}${path}`, {
        ...call,
        headers: {
          origin: assignment.appOrigin,
          authorization: `Bearer ${capabilityFor(assignment)}`,
          ...call.headers,
        },
      }),
    async close() {
      await runtime.stop();
      await core.close();
      if (options.place === undefined) place.remove();
    },
  };
}

/** One request to the node listener; a header that is undefined is not sent. */
export function request(port: number, path: string, options: CallOptions = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = Object.fromEntries(
      Object.entries({ host: NODE_HOST, ...options.headers }).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, value]],
      ),
    );
    const sent = http.request(
      {
        host: '127.0.0.1',
        port,
        path,
        method: options.method ?? 'GET',
        headers,
        agent: false,
        ...(options.signal === undefined ? {} : { signal: options.signal }),
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
        response.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(options.body);
  });
}

function errorText(_key: string, value: unknown): unknown {
  return value instanceof Error ? `${value.name}: ${value.message}` : value;
}
