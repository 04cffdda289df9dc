// A Gateway in a process of its own, as a container runs it: real processes, sockets and signals, without the
// container.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import type http from 'node:http';
import { createServer } from 'node:http';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ANSWERED_BY, CLIENT_ADDRESS, CLIENT_PROTOCOL } from '@platform/contract';
import { createStrictServer, withPlatformFields } from '@platform/http';
import { newEnvelopeKey } from '@platform/link';
import { openRaw } from '../../../http/test-support/raw-exchange.ts';
import {
  APP_ORIGIN,
  CORE_CREDENTIAL,
  CORE_HOST,
  GATEWAY_CREDENTIAL,
  openDoor,
  openPublicDoor,
  portOf,
} from '../../test-support/gateway-under-test.ts';
import { connectSidecar, type SidecarGateway, type SidecarSettings } from './connect.ts';

const PUBLIC_NAME = 'notes--aaaabbbbccccddddeeee.public.platform.localhost';

describe('a Gateway in a process of its own', () => {
  let folder: string;
  let bundle: string;
  let sidecar: ChildProcess;
  let gateway: SidecarGateway | undefined;
  let settings: SidecarSettings;
  const opened: { close(): void }[] = [];
  const seenByCore: (string | undefined)[] = [];
  let bundleFolder: string;

  before(async () => {
    bundleFolder = await mkdtemp(join(tmpdir(), 'sidecar-bundle-'));
    bundle = join(bundleFolder, 'gateway.mjs');
    const made = spawnSync(process.execPath, [fileURLToPath(new URL('bundle.ts', import.meta.url)), bundle]);
    assert.equal(made.status, 0, String(made.stderr));
  });
  after(() => rm(bundleFolder, { recursive: true, force: true }));

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sidecar-'));
    const core = serve((req, res) => {
      seenByCore.push(req.headers.authorization);
      res.end('core');
    });
    core.listen(join(folder, 'core.sock'));
    const workload = serve((req, res) => res.end(`workload saw ${req.method} ${req.url}`));
    workload.listen(0, '127.0.0.1');
    await once(workload, 'listening');
    settings = {
      installationId: 'inst-1',
      appOrigin: APP_ORIGIN,
      coreOrigin: 'http://127.0.0.1:1',
      coreHost: CORE_HOST,
      gatewayCredential: GATEWAY_CREDENTIAL,
      coreServiceCredential: CORE_CREDENTIAL,
      envelopeKey: await newEnvelopeKey(),
      policy: { revision: 0 },
      outbound: { privateOrigins: [], ca: null },
      listen: { host: '127.0.0.1', port: await freePort() },
      workload: { hostname: '127.0.0.1', port: String(portOf(workload)) },
    };
    start();
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
    await kill();
    for (const server of opened.splice(0)) server.close();
    seenByCore.length = 0;
    await rm(folder, { recursive: true, force: true });
  });

  function serve(handle: http.RequestListener): http.Server {
    const server = createServer(handle);
    opened.push({
      close() {
        server.close();
        server.closeAllConnections();
      },
    });
    return server;
  }

  function start(): void {
    sidecar = spawn(process.execPath, [bundle, folder, join(folder, 'core.sock'), join(folder, 'dial.sock')], {
      env: {},
      stdio: 'inherit',
    });
  }

  async function kill(): Promise<void> {
    if (sidecar.exitCode !== null || sidecar.signalCode !== null) return;
    sidecar.kill('SIGKILL');
    await once(sidecar, 'exit');
  }

  const connect = (settings: SidecarSettings | undefined, onActivity: () => void = () => undefined) =>
    connectSidecar({
      folder,
      ...(settings === undefined ? {} : { settings }),
      onActivity,
      log: () => undefined,
    });

  /** A request of the workload to its Gateway. */
  const out = () =>
    fetch(`http://127.0.0.1:${settings.listen.port}/v1/services/apps`, {
      headers: { authorization: `Bearer ${GATEWAY_CREDENTIAL}` },
    });

  /** A request to the workload, through whatever the Runtime holds. */
  async function inward(through: SidecarGateway, path = '/x?y=1'): Promise<string> {
    const listener = openDoor(through);
    opened.push({ close: () => void listener.close().closeAllConnections() });
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const answer = await fetch(`http://127.0.0.1:${portOf(listener)}${path}`);
    return answer.text();
  }

  /** A request of the internet, through whatever the Runtime holds. */
  async function fromInternet(through: SidecarGateway, path: string): Promise<[number, string]> {
    const listener = openPublicDoor(through);
    opened.push({ close: () => void listener.close().closeAllConnections() });
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const fields = [`Host: ${PUBLIC_NAME}`, `${CLIENT_ADDRESS}: 192.0.2.7`, `${CLIENT_PROTOCOL}: https`];
    const lines = [`GET ${path} HTTP/1.1`, ...fields, 'Connection: close', '', ''];
    const connection = await openRaw(portOf(listener), lines.join('\r\n'));
    await connection.closed();
    const [answer] = connection.answers();
    return [answer?.status ?? 0, answer?.body ?? ''];
  }

  it('serves both ways once it is configured, swaps the credential, and reports its activity', async () => {
    const { promise: active, resolve } = Promise.withResolvers<void>();
    gateway = await connect(settings, () => resolve());
    assert.equal(await gateway.workloadListens(new AbortController().signal), true);
    const answer = await out();
    assert.equal(await answer.text(), 'core');
    assert.deepEqual(seenByCore, [`Bearer ${CORE_CREDENTIAL}`]);
    await active;
    assert.equal(await inward(gateway), 'workload saw GET /x?y=1');
    await gateway.close();
    assert.equal(gateway.traffic().outbound.requests, 1);
    assert.equal(gateway.traffic().inbound.requests, 1);
  });

  it('speaks HTTP at the socket of core also where core is reached over https, for the Runtime speaks TLS', async () => {
    gateway = await connect({ ...settings, coreOrigin: 'https://core.example' });
    assert.equal(await (await out()).text(), 'core');
  });

  it('gives the workload the fields of core alone, and says who answered to core alone', async () => {
    const names: string[][] = [];
    const workload = serve((req, res) => {
      names.push(Object.keys(req.headers).filter((name) => name.startsWith('platform-')));
      if (req.url === '/broken') req.socket.destroy();
      else res.writeHead(200, { [ANSWERED_BY]: 'platform' }).end();
    });
    workload.listen(0, '127.0.0.1');
    await once(workload, 'listening');
    gateway = await connect({ ...settings, workload: { hostname: '127.0.0.1', port: String(portOf(workload)) } });
    const through = gateway;
    const calls = createStrictServer({
      isOwnHost: () => true,
      onRequest(incoming) {
        incoming.res.setHeader(ANSWERED_BY, 'platform');
        through.forwardInbound({ ...incoming, head: withPlatformFields(incoming.head, incoming.req) }, incoming.path);
        return null;
      },
      onFault: assert.fail,
    });
    const strangers = openDoor(through);
    const answeredBy: (string | null)[] = [];
    for (const server of [calls, strangers]) {
      opened.push({ close: () => void server.close().closeAllConnections() });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      for (const path of ['/', '/broken']) {
        const headers = { 'platform-trigger': 'schedule' };
        const answer = await fetch(`http://127.0.0.1:${portOf(server)}${path}`, { headers });
        answeredBy.push(answer.headers.get(ANSWERED_BY));
      }
    }
    assert.deepEqual(answeredBy, ['workload', 'platform', null, null]);
    assert.deepEqual(names, [['platform-trigger'], ['platform-trigger'], [], []]);
  });

  it('holds no credential in its environment or its arguments', async () => {
    gateway = await connect(settings);
    for (const file of ['environ', 'cmdline']) {
      const text = await readFile(`/proc/${sidecar.pid}/${file}`, 'utf8');
      assert.ok(!text.includes(CORE_CREDENTIAL) && !text.includes(GATEWAY_CREDENTIAL));
    }
  });

  it('reports its settings to a later Runtime, and goes on', async () => {
    await connect(settings);
    gateway = await connect(undefined);
    assert.deepEqual(gateway.settings, settings);
    assert.equal((await out()).status, 200);
    assert.equal(await inward(gateway, '/later'), 'workload saw GET /later');
  });

  it('takes a later policy, and a later Runtime finds it with that policy', async () => {
    const first = await connect(settings);
    await first.apply({ revision: 2 });
    gateway = await connect(undefined);
    assert.deepEqual(gateway.settings.policy, { revision: 2 });
  });

  it('begins with the latest policy when it was killed and started again', async () => {
    gateway = await connect(settings);
    await kill();
    await gateway.apply({ revision: 3 });
    start();
    await gateway.reconnect();
    const later = await connect(undefined);
    assert.deepEqual(later.settings.policy, { revision: 3 });
    await later.close();
  });

  it('is the same Gateway again after it was killed and started, and requests in between wait', async () => {
    gateway = await connect(settings);
    await kill();
    const waiting = inward(gateway, '/meanwhile');
    start();
    await gateway.reconnect();
    assert.equal(await waiting, 'workload saw GET /meanwhile');
    assert.equal((await out()).status, 200);
  });

  it('answers the internet by its policy, also after it was killed and started, and at once where that has closed', async () => {
    const policy = { revision: 1, public: { hostname: PUBLIC_NAME, routes: ['GET:/x'] } };
    gateway = await connect({ ...settings, policy });
    assert.deepEqual(await fromInternet(gateway, '/x'), [200, 'workload saw GET /x']);
    assert.equal((await fromInternet(gateway, '/y'))[0], 404);
    await kill();
    const waiting = fromInternet(gateway, '/x');
    start();
    await gateway.reconnect();
    assert.deepEqual(await waiting, [200, 'workload saw GET /x']);
    // The Runtime's end refuses before the sidecar has heard of it.
    sidecar.kill('SIGSTOP');
    const applied = gateway.apply({ revision: 2 });
    assert.equal((await fromInternet(gateway, '/x'))[0], 421);
    sidecar.kill('SIGCONT');
    await applied;
  });

  it('keeps no client of the internet waiting for longer than two seconds while it is dead', async () => {
    gateway = await connect({
      ...settings,
      policy: { revision: 1, public: { hostname: PUBLIC_NAME, routes: ['GET:/x'] } },
    });
    await kill();
    const began = performance.now();
    const [status, body] = await fromInternet(gateway, '/x');
    assert.deepEqual([status, JSON.parse(body).code], [503, 'workload_unavailable']);
    assert.ok(performance.now() - began < 20_000);
  });

  it('that was never configured says so', async () => {
    await assert.rejects(connect(undefined), /never configured/);
  });

  it('is not followed to another socket', async () => {
    await kill();
    const other = net.createServer((socket) => socket.end());
    let visited = false;
    other.on('connection', () => {
      visited = true;
    });
    opened.push({ close: () => other.close() });
    other.listen(join(folder, 'other.sock'));
    await once(other, 'listening');
    await rm(join(folder, 'control.sock'), { force: true });
    await symlink('other.sock', join(folder, 'control.sock'));
    await assert.rejects(
      connectSidecar({ folder, settings, deadline: 200, onActivity: () => undefined, log: () => undefined }),
      /did not come up/,
    );
    assert.equal(visited, false);
  });
});

async function freePort(): Promise<number> {
  const server = net.createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return address !== null && typeof address === 'object' ? address.port : 0;
}
