// Starts a Gateway with canary credentials between a recording core and a workload socket, for its tests.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createStrictServer } from '@platform/http';
import { newEnvelopeKey } from '@platform/link';
import { type GatewayEvent, type GatewayOptions, type ListeningGateway, startGateway } from '../src/gateway.ts';

export const GATEWAY_CREDENTIAL = 'pgw_canary-4c1d8e0b6a2f4a6c9f17e6c0a1b2c3d4';
export const CORE_CREDENTIAL = 'pcs_canary-90aa7e1d55b34dce8e55f2b1d0c9e8f7';
export const CORE_HOST = 'shell.platform.localhost:8787';
export const APP_ORIGIN = 'http://notes--x1.apps.platform.localhost:8787';

export interface GatewayUnderTest {
  readonly gateway: ListeningGateway;
  readonly port: number;
  /** Where the workload is expected to listen. */
  readonly socketPath: string;
  readonly events: GatewayEvent[];
  activity(): number;
  /** A listener that hands every request to `forwardInbound` unchanged, as an authenticated node listener would. */
  readonly inboundPort: number;
  close(): Promise<void>;
}

export async function startGatewayUnderTest(
  coreOrigin: string,
  more: Partial<GatewayOptions> = {},
): Promise<GatewayUnderTest> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-'));
  const socketPath = join(folder, 'workload.sock');
  const events: GatewayEvent[] = [];
  let activity = 0;
  const gateway = await startGateway({
    installationId: 'inst-0190a1b2-0000-7000-8000-000000000001',
    appOrigin: APP_ORIGIN,
    coreOrigin,
    coreHost: CORE_HOST,
    gatewayCredential: GATEWAY_CREDENTIAL,
    coreServiceCredential: CORE_CREDENTIAL,
    envelopeKey: await newEnvelopeKey(),
    policy: { revision: 0 },
    listen: { port: 0, host: '127.0.0.1' },
    inbound: { socketPath },
    onActivity: () => {
      activity += 1;
    },
    log: (event) => events.push(event),
    ...more,
  });
  const inbound = openDoor(gateway);
  inbound.listen(0, '127.0.0.1');
  await once(inbound, 'listening');
  const address = gateway.address();
  return {
    gateway,
    port: address !== null && typeof address === 'object' ? address.port : 0,
    socketPath,
    events,
    activity: () => activity,
    inboundPort: portOf(inbound),
    async close() {
      inbound.close();
      inbound.closeAllConnections();
      await gateway.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A strict server that brings everything to the workload, as an authenticated node listener would. */
export function openDoor(gateway: Pick<ListeningGateway, 'forwardInbound' | 'forwardUpgrade'>): Server {
  return createStrictServer({
    isOwnHost: () => true,
    onRequest: (incoming) => void gateway.forwardInbound(incoming, incoming.path + incoming.query),
    onUpgrade: (incoming) => gateway.forwardUpgrade(incoming, incoming.path + incoming.query),
    onFault: (error) => assert.fail(String(error)),
  });
}

/** The same for public requests, as an authenticated public side that has checked nothing else would. */
export function openPublicDoor(gateway: Pick<ListeningGateway, 'forwardPublic' | 'forwardPublicUpgrade'>): Server {
  return createStrictServer({
    isOwnHost: () => true,
    onRequest: (incoming) => void gateway.forwardPublic(incoming),
    onUpgrade: (incoming) => gateway.forwardPublicUpgrade(incoming),
    onFault: (error) => assert.fail(String(error)),
  });
}

export function portOf(server: Pick<Server, 'address'>): number {
  const address: AddressInfo | string | null = server.address();
  return address !== null && typeof address === 'object' ? address.port : 0;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface Ask {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Record<string, string | string[]>;
  readonly body?: string | Buffer;
}

/** Sends one request with the Gateway credential, unless `headers` say otherwise, and reads the whole answer. */
export async function ask(port: number, { method = 'GET', path = '/', headers = {}, body }: Ask): Promise<Answer> {
  const request = httpRequest({
    ...{ host: '127.0.0.1', port, method, path, agent: false },
    headers: { authorization: `Bearer ${GATEWAY_CREDENTIAL}`, ...headers },
  });
  request.end(body);
  const [response]: IncomingMessage[] = await once(request, 'response');
  if (response === undefined) throw new Error('no response');
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return { status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks).toString() };
}

/** The answer is a whole problem document (RFC 9457) of this code. */
export function assertProblem(answer: Answer, status: number, code: string): void {
  assert.equal(answer.status, status, answer.body);
  assert.equal(answer.headers['content-type'], 'application/problem+json');
  const problem: Record<string, unknown> = JSON.parse(answer.body);
  assert.equal(problem.code, code);
  assert.equal(problem.status, status);
  assert.deepEqual(Object.keys(problem).sort(), ['code', 'detail', 'requestId', 'status', 'title', 'type']);
  assert.equal(problem.requestId, answer.headers['x-request-id']);
}

/** Waits until `condition` holds, looking at every turn of the event loop. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}
