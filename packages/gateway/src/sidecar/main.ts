// A Gateway in a process of its own: `node main.ts <own folder> <socket that leads to core> <socket to dial at>`. The
// Runtime configures it over `control.sock` in its folder; from then on it serves the workload, and inbound requests
// that the Runtime sends to `inbound.sock`. The Runtime may die and come back: the settings stay in this process's
// memory only.
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import net, { type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ANSWERED_BY, type GatewayPolicy } from '@platform/contract';
import { createStrictServer, dialerAt, faultOf, withPlatformFields } from '@platform/http';
import { type GatewayEvent, type RunningGateway, startGateway } from '../gateway.ts';
import { type FromSidecar, receive, type SidecarSettings, send, socketNames, type ToSidecar } from './protocol.ts';

/** Signals closer together than this are reported as one. */
const GATHER_MS = 200;
/** Between two attempts to reach a workload that does not listen yet, at first and after a second. */
const KNOCK_MS = 3;
const SLOW_KNOCK_MS = 25;
/** A packet to an address that is not there yet is lost without a word. */
const KNOCK_TIMEOUT_MS = 250;

/** The Runtime's listeners and the Gateway's limits have let them pass: these are above both. */
const CONNECTIONS = 12_000;
const INBOUND_HEAD_BYTES = 80 * 1024;

interface Serving {
  readonly settings: SidecarSettings;
  readonly gateway: RunningGateway;
}

const [ownFolder, coreSocket, dialSocket] = process.argv.slice(2);
if (ownFolder === undefined || coreSocket === undefined || dialSocket === undefined)
  throw new Error('Name the own folder, the socket of core and the socket to dial at.');
const dialer = dialerAt(dialSocket);

let runtime: Socket | undefined;
let serving: Promise<Serving> | undefined;
const activity = reportActivity(beginning);

const control = net.createServer((socket) => {
  socket.on('error', () => socket.destroy());
  receive<ToSidecar>(socket, (message) => void obey(socket, message));
});
await listen(control, socketNames.control);

/** The Gateway in service, or undefined; the Runtime that configured it gets the error when it could not start. */
async function beginning(): Promise<Serving | undefined> {
  return await serving?.catch(() => undefined);
}

async function obey(socket: Socket, message: ToSidecar): Promise<void> {
  if (message.kind === 'close') {
    const { gateway } = (await beginning()) ?? {};
    await gateway?.close();
    if (gateway !== undefined) send(socket, { kind: 'closed', traffic: gateway.traffic() });
    return;
  }
  if (message.kind === 'apply') {
    await apply(message.policy);
    send(socket, { kind: 'applied', revision: message.policy.revision });
    return;
  }
  if (message.kind === 'await-workload') {
    if (await workloadListens(socket)) send(socket, { kind: 'listening' });
    return;
  }
  // The newest Runtime is the one that listens.
  runtime = socket;
  try {
    if (message.kind === 'configure') serving ??= serve(message.settings);
    const current = await serving;
    if (current === undefined) send(socket, { kind: 'unconfigured' });
    else send(socket, { kind: 'ready', settings: current.settings });
  } catch (error) {
    serving = undefined;
    send(socket, { kind: 'failed', reason: error instanceof Error ? error.message : String(error) });
  }
}

/** A Runtime that resumes later gets the policy in effect. */
async function apply(policy: GatewayPolicy): Promise<void> {
  const current = await beginning();
  if (current === undefined) return;
  await current.gateway.apply(policy);
  serving = Promise.resolve({ ...current, settings: { ...current.settings, policy } });
}

async function serve(settings: SidecarSettings): Promise<Serving> {
  const { listen: at, storagePort, workload, coreOrigin, ...identity } = settings;
  const gateway = await startGateway({
    ...identity,
    coreOrigin: coreOrigin.replace(/^https:/, 'http:'),
    ...(coreSocket === undefined ? {} : { coreSocket }),
    dialer,
    listen: at,
    hosts: [`${at.host}:${at.port}`],
    ...(storagePort === undefined ? {} : { storage: storageAt(at.host, storagePort) }),
    inbound: { origin: `http://${workload.hostname}:${workload.port}` },
    onActivity: activity.signal,
    log: (event: GatewayEvent) => report({ kind: 'event', event }),
  });
  // The Runtime's listener has checked these requests; what is read strictly here is read a second time. It has also
  // dropped every Platform-* field of a stranger: those that arrive are core's, or on a public request an Ingress's. The
  // Runtime names the app's own host for everything but public requests, whatever a caller named.
  const appHost = new URL(settings.appOrigin).host;
  const inbound = createStrictServer({
    isOwnHost: () => true,
    onRequest(incoming) {
      const { req, res, head, path, query } = incoming;
      if (head.host !== appHost) {
        gateway.forwardPublic(incoming);
        return null;
      }
      res.setHeader(ANSWERED_BY, 'platform');
      gateway.forwardInbound({ ...incoming, head: withPlatformFields(head, req) }, path + query);
      return null;
    },
    onUpgrade(incoming) {
      if (incoming.head.host !== appHost) gateway.forwardPublicUpgrade(incoming);
      else gateway.forwardUpgrade(incoming, incoming.path + incoming.query);
    },
    onFault: (error) =>
      report({
        kind: 'event',
        event: { event: 'gateway_fault', installationId: settings.installationId, ...faultOf(error) },
      }),
    limits: { keepAliveMilliseconds: 0, connections: CONNECTIONS, headBytes: INBOUND_HEAD_BYTES },
  });
  await listen(inbound, socketNames.inbound);
  return { settings, gateway };
}

function storageAt(host: string, port: number) {
  return { listen: { host, port }, hosts: [`${host}:${port}`] };
}

/** False when the Runtime no longer waits. */
async function workloadListens(asking: Socket): Promise<boolean> {
  const workload = (await beginning())?.settings.workload;
  const begun = performance.now();
  while (workload !== undefined && !asking.destroyed) {
    if (await knock(workload.hostname, Number(workload.port))) return true;
    await delay(performance.now() - begun < 1_000 ? KNOCK_MS : SLOW_KNOCK_MS);
  }
  return false;
}

function knock(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const attempt = net.connect({ host, port });
    attempt.setTimeout(KNOCK_TIMEOUT_MS, () => attempt.destroy());
    attempt.once('connect', () => {
      resolve(true);
      attempt.destroy();
    });
    attempt.once('error', () => resolve(false));
    attempt.once('close', () => resolve(false));
  });
}

async function listen(server: net.Server, name: string): Promise<void> {
  const path = join(ownFolder ?? '', name);
  rmSync(path, { force: true });
  server.listen(path);
  await once(server, 'listening');
}

function report(message: FromSidecar): void {
  if (runtime !== undefined) send(runtime, message);
}

function reportActivity(current: () => Promise<Serving | undefined>): { signal(): void } {
  let scheduled = false;
  let reportedAt = 0;
  const publish = async () => {
    scheduled = false;
    const { gateway } = (await current()) ?? {};
    if (gateway === undefined) return;
    reportedAt = performance.now();
    report({ kind: 'activity', active: gateway.activeRequests(), traffic: gateway.traffic() });
  };
  return {
    signal() {
      if (scheduled) return;
      scheduled = true;
      setTimeout(publish, Math.max(0, GATHER_MS - (performance.now() - reportedAt)));
    },
  };
}
