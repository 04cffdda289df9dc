// An Ingress between a core and nodes that a test plays: what core says of the topology, and what a node answers.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import {
  type IngressReport,
  installationId,
  type TopologyLine,
  type TopologyNode,
  type TopologyRoute,
} from '@platform/contract';
import { keyFromSeed, publicKeyText, readPublicKey, verifyText } from '@platform/link';
import { portOf } from '../../http/test-support/port-of.ts';
import { defaultLimits, type Ingress, type IngressOptions, startIngress } from '../src/ingress.ts';
import type { IngressMetrics } from '../src/metrics-port.ts';

export const HOSTNAME = 'notes--aaaabbbbccccddddeeee.public.platform.localhost';
export const OTHER = 'chat--aaaabbbbccccddddffff.public.platform.localhost';
export const INSTALLATION = installationId.parse('inst-019a0000-0000-7000-8000-000000000001');
export const OTHER_INSTALLATION = installationId.parse('inst-019a0000-0000-7000-8000-000000000002');
export const CORE_HOST = 'core.test:8787';
export const key = keyFromSeed(Buffer.alloc(32, 9));

/** Core as an Ingress sees it: a stand-in for tests. */
export class CoreStandIn {
  readonly server = createServer((req, res) => void this.#answer(req, res));
  readonly applied: string[] = [];
  readonly reports: IngressReport[] = [];
  /** `after` of each stream, in order. */
  readonly streams: (string | null)[] = [];
  /** Answers nothing, as a core that is down. */
  isDown = false;
  #open: ServerResponse | null = null;
  #lines: TopologyLine[] = [];
  #revision = 0;
  #credentials = 0;
  readonly #waiting = new Set<() => void>();

  /** Says a change, with its `current` line. @returns the revision */
  say(...lines: TopologyLine[]): string {
    this.#revision += 1;
    const revision = String(this.#revision);
    const all: TopologyLine[] = [...lines, { kind: 'current', revision }];
    this.#lines.push(...all);
    this.raw(all.map((line) => `${JSON.stringify(line)}\n`).join(''));
    return revision;
  }

  /** Bytes of the stream, as they are. */
  raw(text: string): void {
    this.#open?.write(text);
  }

  /** Ends the stream. */
  cut(): void {
    this.#open?.destroy();
    this.#open = null;
  }

  /** Forgets what was said: the next stream begins with a snapshot of these. */
  restart(...lines: TopologyLine[]): void {
    this.#revision += 1;
    this.#lines = [...lines, { kind: 'current', revision: String(this.#revision) }];
    this.cut();
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  async confirmed(revision: string): Promise<void> {
    await this.until(() => this.applied.includes(revision));
  }

  #stir(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (this.isDown) {
      req.socket.destroy();
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const body = text === '' ? {} : (JSON.parse(text) as Record<string, string>);
    const url = new URL(req.url ?? '', 'http://core');
    if (url.pathname === '/v1/ingress/challenge') return json(res, 200, { nonce: 'a nonce' });
    if (url.pathname === '/v1/ingress/credential') return this.#prove(body, res);
    if (req.headers.authorization !== `Bearer pin_${this.#credentials}`)
      return json(res, 401, { code: 'unauthenticated' });
    if (url.pathname === '/v1/ingress/topology') return this.#stream(url.searchParams.get('after'), res);
    if (url.pathname === '/v1/ingress/applied') this.applied.push(body.revision ?? '');
    if (url.pathname === '/v1/ingress/report') this.reports.push(JSON.parse(text) as IngressReport);
    res.writeHead(204).end();
    this.#stir();
  }

  #prove({ publicKey = '', nonce = '', signature = '' }: Record<string, string>, res: ServerResponse): void {
    const proven = readPublicKey(publicKey);
    const said = `platform ingress credential v1\n${CORE_HOST}\n${nonce}`;
    if (proven === null || publicKey !== publicKeyText(key.publicKey) || !verifyText(proven, said, signature)) {
      json(res, 401, { code: 'unauthenticated' });
      return;
    }
    this.#credentials += 1;
    const expiresAt = '2026-11-23T10:00:00.000Z';
    json(res, 200, { ingressId: 'ingress-1', ingressCredential: `pin_${this.#credentials}`, expiresAt });
  }

  #stream(after: string | null, res: ServerResponse): void {
    this.streams.push(after);
    this.#open = res;
    res.writeHead(200, { 'content-type': 'application/x-ndjson' });
    const known = this.#lines.findIndex((line) => line.kind === 'current' && line.revision === after);
    const rest: TopologyLine[] = known < 0 ? [{ kind: 'snapshot' }, ...this.#lines] : this.#lines.slice(known + 1);
    res.write(`\n${rest.map((line) => `${JSON.stringify(line)}\n`).join('')}`);
    this.#stir();
  }
}

function json(res: ServerResponse, status: number, body: object): void {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** The public side of a node: a stand-in for tests. */
export class NodeStandIn {
  readonly server: Server = createServer({ maxHeaderSize: 128 * 1024 }, (req, res) => this.handle(req, res));
  readonly sockets = new Set<Socket>();
  handle: (req: IncomingMessage, res: ServerResponse) => void = (_req, res) => void res.end('ok');

  constructor() {
    this.server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
  }

  entry(nodeId = 'node-1'): TopologyNode {
    const url = `http://127.0.0.1:${portOf(this.server)}`;
    return { nodeId, name: nodeId, url, key: null, credential: 'pni_0123456789012345678901234567890' };
  }
}

export function routeOf(routes: string[], more: Partial<TopologyRoute> = {}): TopologyRoute {
  return { hostname: HOSTNAME, installationId: INSTALLATION, nodeId: 'node-1', routes, ...more };
}

export interface UnderTest {
  readonly core: CoreStandIn;
  readonly node: NodeStandIn;
  readonly ingress: Ingress;
  readonly port: number;
  /** Lines of the operator's log. */
  readonly logged: string[];
  close(): Promise<void>;
}

export interface UnderTestOptions
  extends Partial<Pick<IngressOptions, 'trustedProxies' | 'uptime' | 'accessLog' | 'tls'>> {
  readonly limits?: Partial<IngressOptions['limits']>;
  readonly metrics?: IngressMetrics;
  /** Default: one name with every kind of route. */
  readonly lines?: (node: TopologyNode) => TopologyLine[];
  readonly onRemoved?: () => void;
}

export const ROUTES = ['GET:/', 'GET:/feed/*', 'POST:/hooks/*', 'WS:/chat'];

/** Started, and informed of a node and its names. */
export async function startUnderTest(options: UnderTestOptions = {}): Promise<UnderTest> {
  const { limits, lines, ...rest } = options;
  const core = new CoreStandIn();
  const node = new NodeStandIn();
  for (const server of [core.server, node.server]) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }
  const told = lines?.(node.entry()) ?? [
    { kind: 'nodes', items: [node.entry()], gone: [] },
    { kind: 'routes', items: [routeOf(ROUTES)], gone: [] },
  ];
  const revision = core.say(...told);
  const logged: string[] = [];
  const write = (fields: object, message: string) => void logged.push(`${message} ${JSON.stringify(fields)}`);
  const ingress = await startIngress({
    coreOrigin: `http://127.0.0.1:${portOf(core.server)}`,
    coreHost: CORE_HOST,
    key,
    listen: { host: '127.0.0.1', port: 0 },
    trustedProxies: [],
    accessLog: 'off',
    log: { debug: () => undefined, info: write, warn: write, error: write },
    clock: () => new Date(),
    ...rest,
    limits: { ...defaultLimits, rate: 10_000, burst: 10_000, ...limits },
  });
  await core.confirmed(revision);
  return {
    core,
    node,
    ingress,
    port: ingress.port,
    logged,
    async close() {
      node.server.closeAllConnections();
      for (const socket of node.sockets) socket.destroy();
      await ingress.stop();
      for (const server of [core.server, node.server]) {
        server.closeAllConnections();
        server.close();
      }
    },
  };
}
