// The vectors against a Gateway in a process of its own: the side that faces the workload, the socket that faces the
// Runtime, and the way of a hostile workload's answers through both processes.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe } from 'node:test';
import { fileURLToPath } from 'node:url';
import { newEnvelopeKey } from '@platform/link';
import { freePort } from '../../../../tests/support/free-port.ts';
import { portOf } from '../../../http/test-support/port-of.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../../../http/test-support/recording-upstream.ts';
import { testPathVectors, testRequestVectors } from '../../../http/test-support/request-vectors.ts';
import {
  type HostileUpstream,
  startHostileUpstream,
  testResponseVectors,
} from '../../../http/test-support/response-vectors.ts';
import {
  APP_ORIGIN,
  CORE_CREDENTIAL,
  CORE_HOST,
  GATEWAY_CREDENTIAL,
  openDoor,
} from '../../test-support/gateway-under-test.ts';
import { connectSidecar, type SidecarGateway } from './connect.ts';
import { socketNames } from './protocol.ts';

interface Sidecar {
  readonly folder: string;
  readonly port: number;
  readonly gateway: SidecarGateway;
  close(): Promise<void>;
}

async function startSidecar(workloadPort: number): Promise<Sidecar> {
  const folder = await mkdtemp(join(tmpdir(), 'sidecar-vectors-'));
  const port = await freePort();
  const program = fileURLToPath(new URL('main.ts', import.meta.url));
  const child: ChildProcess = spawn(
    process.execPath,
    [program, folder, join(folder, 'core.sock'), join(folder, 'dial.sock')],
    { env: {}, stdio: 'inherit' },
  );
  const gateway = await connectSidecar({
    folder,
    settings: {
      installationId: 'inst-1',
      appOrigin: APP_ORIGIN,
      coreOrigin: 'http://127.0.0.1:1',
      coreHost: CORE_HOST,
      gatewayCredential: GATEWAY_CREDENTIAL,
      coreServiceCredential: CORE_CREDENTIAL,
      envelopeKey: await newEnvelopeKey(),
      policy: { revision: 0 },
      outbound: { privateOrigins: [], ca: null },
      listen: { host: '127.0.0.1', port },
      workload: { hostname: '127.0.0.1', port: String(workloadPort) },
    },
    onActivity: () => undefined,
    log: () => undefined,
  });
  return {
    folder,
    port,
    gateway,
    async close() {
      await gateway.close();
      child.kill('SIGKILL');
      await once(child, 'exit');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

describe('a sidecar', () => {
  let workload: RecordingUpstream;
  let sidecar: Sidecar;
  before(async () => {
    workload = await startRecordingUpstream();
    sidecar = await startSidecar(workload.port);
  });
  after(async () => {
    await sidecar.close();
    await workload.close();
  });
  testRequestVectors('sidecar without its credential', () => ({
    to: sidecar.port,
    host: `127.0.0.1:${sidecar.port}`,
    isServed: ({ status }) => status === 401,
    takeArrived: () => [],
    answersItself: true,
  }));
  const inbound = () => ({
    to: { path: join(sidecar.folder, socketNames.inbound) },
    host: new URL(APP_ORIGIN).host,
    isServed: ({ status }: { readonly status: number }) => status === 200,
    takeArrived: workload.take,
    carriesTo: new URL(APP_ORIGIN).host,
  });
  const handshake = 'a WebSocket handshake without version and key is refused (RFC 6455 4.2.1)';
  testRequestVectors('inbound socket of a sidecar', inbound, {
    refused: { 'connection.md:545': handshake, 'connection.md:756': handshake },
    served: { 'field/block-100k': 'an Ingress lets heads of 64 KiB pass where its operator allows it' },
  });
  testPathVectors('inbound socket of a sidecar', inbound);
});

describe('a sidecar in front of a hostile workload', () => {
  let workload: HostileUpstream;
  let sidecar: Sidecar;
  let door: Server;
  before(async () => {
    workload = await startHostileUpstream({ port: 0, host: '127.0.0.1' });
    sidecar = await startSidecar(portOf(workload.server));
    door = openDoor(sidecar.gateway);
    door.listen(0, '127.0.0.1');
    await once(door, 'listening');
  });
  after(async () => {
    door.close();
    door.closeAllConnections();
    await sidecar.close();
    workload.server.close();
  });
  testResponseVectors('inbound side of a sidecar', () => {
    assert.ok(door.listening);
    return {
      to: portOf(door),
      fields: ['Host: node.test'],
      upstream: workload,
      dropped: ['x-secret', 'upgrade', 'set-cookie', 'service-worker-allowed', 'clear-site-data'],
    };
  });
});
