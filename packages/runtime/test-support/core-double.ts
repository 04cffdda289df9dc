// Core as the Runtime meets it over HTTP: hands out assignments, packages and credentials, and records reports.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { buffer, text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import {
  type Assignment,
  askCapabilitiesBody,
  assignment,
  type InstallationStatus,
  type NodeHeartbeat,
  type NodeLease,
  type NodeLogs,
  nodeHeartbeatBody,
  registerNodeBody,
  startWorkloadBody,
} from '@platform/contract';

import { pack } from 'tar-stream';
import type * as z from 'zod';

export interface CoreDouble {
  readonly origin: string;
  readonly nodeCredential: string;
  readonly statuses: Map<string, InstallationStatus>;
  /** Every state an installation was reported in, oldest first. */
  readonly history: Map<string, string[]>;
  /** Credentials handed out by starts, by installation. */
  readonly starts: Map<string, string[]>;
  /** When the last work lease of an installation ends, in the time of the test's clock. */
  readonly leases: Map<string, number>;
  /** How often a node asked for the leases of an installation. */
  readonly leaseQuestions: Map<string, number>;
  /** Hashes of the capabilities that nodes asked about, question by question. */
  readonly questions: (readonly string[])[];
  /** Answers of the next questions about capabilities with this status, until set back to 200. */
  answerQuestions(status: number): void;
  /** Ends a capability before its time. Nodes learn it from a raised `clientsRevision`. */
  endCapability(capability: string): void;
  /** `/v1/services/stream` answers with a stream that ends when this is called. */
  endStreams(): void;
  /** Requests of workloads that arrived: method, path and the credential shown. */
  readonly services: { readonly target: string; readonly authorization: string | undefined }[];
  /** Makes a package of `workload/` files and returns its hash. */
  publish(files: Readonly<Record<string, string | Buffer>>): Promise<string>;
  publishBlob(blob: Buffer, hash?: string): string;
  /** Delays downloads of the package until the returned function is called. */
  holdPackage(hash: string): () => void;
  /** @param ingressKeys who may reach the public side over TLS; default: as before */
  assign(items: readonly Assignment[], ingressKeys?: readonly string[]): void;
  /** The host at which Ingresses answer for the endpoint side of the node, from the next {@link assign} on. */
  chooseEndpointHost(host: string | undefined): void;
  /** Whether the node waits for the next list, and so has put the last one into effect. */
  isFollowed(): boolean;
  /** Where the node serves public requests, as it has registered. */
  publicSide(): { readonly url: string; readonly credential: string };
  control(method: string, path: string, credential?: string): Promise<{ status: number; body: unknown }>;
  status(installationId: string): Promise<InstallationStatus>;
  logs(installationId: string, query?: string): Promise<NodeLogs>;
  /** Answers of the next calls to `starts` with this status, until set back to 200. */
  answerStarts(status: number): void;
  /** The same for questions about leases. */
  answerLeases(status: number): void;
  /** Answers the questions that wait for other assignments, with the same ones. */
  answerAssignments(): void;
  /** The answer to heartbeats from now on; default is a lease without end. `silence` gives none. */
  answerHeartbeats(next: NodeLease | 'silence'): void;
  /** How many arrived. */
  heartbeats(): number;
  /** The body of the last heartbeat. */
  lastHeartbeat(): NodeHeartbeat | undefined;
  close(): Promise<void>;
}

export async function startCoreDouble(now: () => Date = () => new Date()): Promise<CoreDouble> {
  const nodeCredential = 'pnd_test';
  const packages = new Map<string, Buffer>();
  const heldPackages = new Map<string, Promise<void>>();
  const statuses = new Map<string, InstallationStatus>();
  const history = new Map<string, string[]>();
  const starts = new Map<string, string[]>();
  const leases = new Map<string, number>();
  const leaseQuestions = new Map<string, number>();
  const streams = new Set<http.ServerResponse>();
  const services: CoreDouble['services'] = [];
  const questions: (readonly string[])[] = [];
  const ended = new Set<string>();
  /** By installation: of starts. */
  const ofStarts = new Map<string, string>();
  let questionStatus = 200;
  let items: readonly Assignment[] = [];
  let revision = 1;
  let startStatus = 200;
  let leaseStatus = 200;
  let heartbeats = 0;
  let lastHeartbeat: NodeHeartbeat | undefined;
  let lease: NodeLease | 'silence' = { leaseMilliseconds: null, heartbeatMilliseconds: 10_000 };
  let ingressKeys: readonly string[] | undefined;
  let endpointHost: string | undefined;
  let registration: z.infer<typeof registerNodeBody> | undefined;
  const waiting = new Set<() => void>();

  const answer = (res: http.ServerResponse, status: number, value?: unknown) => {
    res
      .writeHead(status, { 'content-type': 'application/json' })
      .end(value === undefined ? undefined : JSON.stringify(value));
  };
  const server = http.createServer((req, res) => {
    void handle(req, res).catch(() => res.destroy());
  });

  async function handle(req: http.IncomingMessage, res: http.ServerResponse): Promise<void> {
    const url = new URL(req.url ?? '/', 'http://core');
    const body = await text(req);
    if (url.pathname.startsWith('/v1/services/')) {
      services.push({ target: `${req.method} ${req.url}`, authorization: req.headers.authorization });
      if (url.pathname !== '/v1/services/stream') return answer(res, 200, { served: url.pathname });
      res.writeHead(200, { 'content-type': 'text/event-stream' }).write(': begun\n\n');
      streams.add(res);
      return;
    }
    if (req.headers.authorization !== `Bearer ${nodeCredential}` || req.headers.host !== 'core.test')
      return answer(res, 401, { code: 'unauthenticated' });
    if (url.pathname === '/v1/node/register') {
      registration = registerNodeBody.parse(JSON.parse(body));
      return answer(res, 204);
    }
    if (url.pathname === '/v1/node/heartbeat') {
      heartbeats += 1;
      lastHeartbeat = nodeHeartbeatBody.parse(JSON.parse(body));
      return lease === 'silence' ? undefined : answer(res, 200, lease);
    }
    if (url.pathname === '/v1/node/assignments') {
      if (url.searchParams.get('after') === String(revision)) {
        await new Promise<void>((resolve) => {
          waiting.add(resolve);
          res.once('close', resolve);
        });
      }
      return answer(res, 200, { revision: String(revision), items, ingressKeys, endpointHost });
    }
    if (url.pathname === '/v1/node/status') {
      for (const status of JSON.parse(body).items as InstallationStatus[]) {
        statuses.set(status.installationId, status);
        history.set(status.installationId, [...(history.get(status.installationId) ?? []), status.state]);
      }
      return answer(res, 204);
    }
    const start = /^\/v1\/node\/installations\/([^/]+)\/starts$/.exec(url.pathname)?.[1];
    if (start !== undefined) {
      if (startStatus !== 200) return answer(res, startStatus, { code: 'unavailable' });
      const given = starts.get(start) ?? [];
      const credential = `pcs_${start}_${given.length + 1}`;
      starts.set(start, [...given, credential]);
      const { appCapabilityHash } = startWorkloadBody.parse(JSON.parse(body));
      if (appCapabilityHash !== undefined) ofStarts.set(start, appCapabilityHash);
      return answer(res, 200, { coreServiceCredential: credential, epoch: given.length + 1 });
    }
    const questioned = /^\/v1\/node\/installations\/([^/]+)\/capabilities$/.exec(url.pathname)?.[1];
    if (questioned !== undefined) {
      const { hashes } = askCapabilitiesBody.parse(JSON.parse(body));
      questions.push(hashes);
      if (questionStatus !== 200) return answer(res, questionStatus, { code: 'unavailable' });
      const valid = new Set([hashOf(capabilityFor({ installationId: questioned })), ofStarts.get(questioned)]);
      const items = hashes.flatMap((hash) =>
        valid.has(hash) && !ended.has(hash) ? [{ hash, endsInMilliseconds: CAPABILITY_MILLISECONDS }] : [],
      );
      return answer(res, 200, { items });
    }
    const asked = /^\/v1\/node\/installations\/([^/]+)\/leases$/.exec(url.pathname)?.[1];
    if (asked !== undefined) {
      leaseQuestions.set(asked, (leaseQuestions.get(asked) ?? 0) + 1);
      if (leaseStatus !== 200) return answer(res, leaseStatus, { code: 'unavailable' });
      const end = leases.get(asked);
      return answer(res, 200, { endInMilliseconds: end === undefined ? null : end - now().getTime() });
    }
    const hash = url.pathname.split('/').at(-1) ?? '';
    await heldPackages.get(hash);
    const blob = packages.get(hash);
    if (blob === undefined) return answer(res, 404, { code: 'not_found' });
    res.writeHead(200, { 'content-type': 'application/gzip' }).end(blob);
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no address');

  async function control(
    method: string,
    path: string,
    credential = registration?.controlCredential,
  ): Promise<{ status: number; body: unknown }> {
    const response = await fetch(`${registration?.controlUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${credential}` },
    });
    const answered = await response.text();
    return { status: response.status, body: answered === '' ? undefined : JSON.parse(answered) };
  }

  function publishBlob(blob: Buffer, hash = createHash('sha256').update(blob).digest('hex')): string {
    packages.set(hash, blob);
    return hash;
  }

  return {
    origin: `http://127.0.0.1:${address.port}`,
    nodeCredential,
    statuses,
    history,
    starts,
    leases,
    leaseQuestions,
    services,
    endStreams() {
      for (const stream of streams) stream.end();
      streams.clear();
    },
    async publish(files) {
      const archive = pack();
      archive.entry({ name: 'manifest.json' }, '{}');
      for (const [name, content] of Object.entries(files)) archive.entry({ name: `workload/${name}` }, content);
      archive.finalize();
      return publishBlob(gzipSync(await buffer(archive)));
    },
    publishBlob,
    holdPackage(hash) {
      const { promise, resolve } = Promise.withResolvers<void>();
      heldPackages.set(hash, promise);
      return resolve;
    },
    assign(next, keys = ingressKeys) {
      items = next;
      ingressKeys = keys;
      revision += 1;
      for (const wake of waiting) wake();
      waiting.clear();
    },
    chooseEndpointHost(host) {
      endpointHost = host;
    },
    isFollowed: () => waiting.size > 0,
    publicSide() {
      if (registration?.publicSide === undefined) throw new Error('The node has registered no public side.');
      return registration.publicSide;
    },
    control,
    async status(id) {
      return (await control('GET', `/installations/${id}/status`)).body as InstallationStatus;
    },
    async logs(id, query = '') {
      return (await control('GET', `/installations/${id}/logs${query}`)).body as NodeLogs;
    },
    answerStarts(status) {
      startStatus = status;
    },
    questions,
    answerQuestions(status) {
      questionStatus = status;
    },
    endCapability(capability) {
      ended.add(hashOf(capability));
    },
    answerLeases(status) {
      leaseStatus = status;
    },
    answerAssignments() {
      for (const wake of waiting) wake();
      waiting.clear();
    },
    answerHeartbeats(next) {
      lease = next;
    },
    heartbeats: () => heartbeats,
    lastHeartbeat: () => lastHeartbeat,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Longer than any test moves its clock, except those that mean it. */
const CAPABILITY_MILLISECONDS = 12 * 3_600_000;

/** What this core takes for a capability of a client of an installation. */
export function capabilityFor({ installationId }: { readonly installationId: string }): string {
  return `pdc_${createHash('sha256').update(installationId).digest('base64url')}`;
}

function hashOf(capability: string): string {
  return createHash('sha256').update(capability).digest('base64url');
}

let installations = 0;

/** An assignment with sensible values; `workload` members replace those of the manifest. */
export function makeAssignment(
  packageHash: string,
  more: {
    desired?: Assignment['desired'];
    version?: string;
    workload?: Record<string, unknown>;
    installationId?: string;
    network?: Partial<Assignment['network']>;
    udpPorts?: Assignment['udpPorts'];
    objectStorage?: boolean;
    /** Open to the internet, under a name of its own. */
    publicRoutes?: readonly string[];
  } = {},
): Assignment {
  installations += 1;
  // Tests of other files run at the same time and look over the whole machine for what an installation left.
  const file = process.pid.toString(16).padStart(8, '0');
  const number = String(installations).padStart(12, '0');
  return assignment.parse({
    installationId: more.installationId ?? `inst-${file}-0000-7000-8000-${number}`,
    appId: `app-${installations}`,
    appOrigin: `http://app-${installations}--x.apps.platform.localhost:8787`,
    endpointId: `endpoint${installations}`,
    clientsRevision: 0,
    desired: more.desired ?? 'automatic',
    packageHash,
    version: more.version ?? '1.0.0',
    workload: {
      runtime: 'node',
      ...(more.workload?.runtime === 'oci' ? {} : { entry: 'index.mjs' }),
      ...more.workload,
    },
    network: { public: false, tunnel: false, ...more.network },
    udpPorts: more.udpPorts ?? [],
    objectStorage: more.objectStorage ?? false,
    ...(more.publicRoutes === undefined
      ? {}
      : {
          gateway: {
            revision: 1,
            public: { hostname: `app-${installations}--${file}.public.platform.localhost`, routes: more.publicRoutes },
          },
        }),
  });
}
