// The public side of this node: requests of the internet as Ingresses bring them, for the apps that run here. Why it is a
// listener of its own, and who may reach it: docs/decisions/public-side-of-nodes.md.
import type { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import {
  CLIENT_ADDRESS,
  CLIENT_AUTHORIZATION,
  type GatewayPolicy,
  type PublicRoutes,
  publicHostname,
  publicRoutes,
  RefusalError,
  refuse,
  WEBSOCKET_METHOD,
} from '@platform/contract';
import type { AcceptedRequest, IncomingRequest, IncomingUpgrade } from '@platform/http';
import { irohAddressText, type LinkKey } from '@platform/link';
import type { Log } from '../clock.ts';
import type { RunningGateway } from '../gateway-port.ts';
import type { Installation } from '../lifecycle/installation.ts';
import { bearerOf, matcherOf } from './bearer.ts';
import { connectEndpoint, type EndpointClient, type Endpoints, handleEndpoint, wake } from './endpoints.ts';
import { type HttpServer, startHttpServer } from './http-server.ts';
import type { NodeIroh } from './node-iroh.ts';

/** How it finds whose name a request is for, and wakes its backend. */
export interface PublicHosts extends Pick<Endpoints, 'onWake'> {
  /**
   * By its public name, lower case and without port. Waits a moment for a name that its Ingress learned first.
   *
   * @throws RefusalError `workload_unavailable` while this node has no list of core that could know it
   */
  find(hostname: string): Installation | undefined | Promise<Installation | undefined>;
}

export interface PublicSideOptions extends PublicHosts {
  /**
   * Where Ingresses on other machines reach it under the key of this node: over TLS, or over iroh. Default: plain HTTP on a
   * free port of the loopback interface.
   */
  readonly over?: { readonly key: LinkKey } & (
    | { readonly host: string; readonly port: number }
    | { readonly iroh: Pick<NodeIroh, 'endpoint' | 'direct' | 'relay'> }
  );
  /** `pni_…`, what every request must present. */
  readonly credential: string;
  readonly log: Log;
}

export interface PublicSide extends Pick<HttpServer, 'close'> {
  /** What core sends Ingresses. */
  readonly registration: { readonly url: string; readonly credential: string };
  /** Lets the Ingresses with these link keys (base64url) connect, and ends the connections of all others. */
  admit(keys: readonly string[]): Promise<void>;
  /** Answers for the endpoint side from now on; `null`: no more. Default: it does not. */
  answerForEndpoints(side: EndpointSide | null): void;
}

/** The endpoint side of a node behind NAT, which clients reach through Ingresses. */
export interface EndpointSide extends Endpoints {
  /** As core chose it: lower case, without port. */
  readonly host: string;
}

const LOOPBACK = '127.0.0.1';
/** Of iroh. */
const SERVICE = 'public';

/**
 * What an Ingress has let pass must pass here as well, with the fields that it adds: its limits are the operator's to set,
 * and each of its WebSockets is a connection.
 */
const LIMITS = { connections: 16_384, connectionsPerAddress: 16_384, headBytes: 80 * 1024, headFields: 110 };
const LINK_LIMITS = { ofKey: 16_384, ofKnown: 32_768 };

/** Requests of one installation that wait for its backend to start. */
const WAITING_AT_MOST = 100;
const RETRY_AFTER_SECONDS = 5;

/** Opens the listener. @throws Error when the address cannot be bound */
export async function openPublicSide(options: PublicSideOptions): Promise<PublicSide> {
  const { over, credential, log } = options;
  let endpoints: EndpointSide | null = null;
  const front = createPublicFront({ ...options, endpoints: () => endpoints });
  const at = over !== undefined && 'host' in over ? over : { host: LOOPBACK, port: 0 };
  const iroh = over !== undefined && 'iroh' in over ? over.iroh : null;
  let admitted: ReadonlySet<string> = new Set();
  const server = await startHttpServer({
    ...at,
    // Without the credential, one does not learn which names are here.
    isOwnHost: () => true,
    handle: front.handle,
    connect: front.connect,
    limits: LIMITS,
    ...(over === undefined
      ? {}
      : {
          link: {
            key: over.key,
            isKnown: (key) => admitted.has(key.toString('base64url')),
            limits: LINK_LIMITS,
            ...(iroh === null ? {} : { iroh: { endpoint: iroh.endpoint, service: SERVICE } }),
          },
        }),
    log,
  });
  const authority = `${at.host.includes(':') ? `[${at.host}]` : at.host}:${server.port}`;
  const url =
    over !== undefined && iroh !== null
      ? irohAddressText({ key: over.key.publicKey, service: SERVICE, direct: iroh.direct, relay: iroh.relay })
      : `${over === undefined ? 'http' : 'https'}://${authority}`;
  return {
    registration: { url, credential },
    async admit(keys) {
      admitted = new Set(keys);
      await server.recheck();
    },
    answerForEndpoints(side) {
      endpoints = side;
    },
    close: server.close,
  };
}

export interface PublicFront {
  /** @throws RefusalError */
  handle(incoming: IncomingRequest): Promise<void>;
  /** @throws RefusalError */
  connect(incoming: IncomingUpgrade): Promise<void>;
}

export interface PublicFrontOptions extends PublicHosts, Pick<PublicSideOptions, 'credential'> {
  /** The endpoint side that it answers for now. Default: none. */
  readonly endpoints?: () => EndpointSide | null;
}

/** What the listener does with a request. */
export function createPublicFront(options: PublicFrontOptions): PublicFront {
  const isExpected = matcherOf(`Bearer ${options.credential}`);
  /** How many wait, by installation. */
  const waiting = new WeakMap<Installation, number>();

  /** The endpoint side that a request is for, if it is. @throws RefusalError `unknown_host` for one that no Ingress brings */
  function endpointsFor({ head }: AcceptedRequest): Endpoints | null {
    const endpoints = options.endpoints?.() ?? null;
    if (endpoints?.host !== publicHostname(head.host)) return null;
    // Here `unauthenticated` is about the client.
    if (!isExpected(head.authorization ?? undefined)) throw refuse('unknown_host');
    return endpoints;
  }

  /** @throws RefusalError `unauthenticated`, `unknown_host`, `not_found`, `workload_unavailable` */
  async function admit(request: AcceptedRequest, method: string): Promise<Installation> {
    if (!isExpected(request.head.authorization ?? undefined))
      throw refuse('unauthenticated', 'Public requests come through an Ingress.');
    const found = options.find(publicHostname(request.head.host));
    const installation = found instanceof Promise ? await found : found;
    if (installation === undefined) throw refuse('unknown_host');
    requireOpen(installation, request, method);
    return installation;
  }

  /** @throws RefusalError `unknown_host`, `not_found`, `workload_unavailable` */
  async function reach(
    installation: Installation,
    request: AcceptedRequest,
    { method, caller }: { readonly method: string; readonly caller: EventEmitter },
  ): Promise<RunningGateway> {
    const running = installation.gateway;
    if (running !== undefined) return running;
    const leave = enter(installation);
    caller.once('close', leave);
    try {
      const gateway = await wake(options, installation);
      // Meanwhile it may have been closed, and its Gateway not know it yet.
      requireOpen(installation, request, method);
      return gateway;
    } catch (error) {
      // Why it does not run is its owner's business.
      throw error instanceof RefusalError && WHY.has(error.refusal.code) ? unavailable() : error;
    } finally {
      leave();
      caller.off('close', leave);
    }
  }

  /** @returns what ends the wait, once @throws RefusalError `workload_unavailable` where too many wait */
  function enter(installation: Installation): () => void {
    const others = waiting.get(installation) ?? 0;
    if (others >= WAITING_AT_MOST) throw unavailable();
    waiting.set(installation, others + 1);
    let left = false;
    return () => {
      if (!left) waiting.set(installation, (waiting.get(installation) ?? 1) - 1);
      left = true;
    };
  }

  return {
    async handle(incoming) {
      const { req, res } = incoming;
      const endpoints = endpointsFor(incoming);
      if (endpoints !== null) return handleEndpoint(endpoints, incoming, clientOf(req));
      const method = req.method ?? '';
      const installation = await admit(incoming, method);
      const gateway = await reach(installation, incoming, { method, caller: res });
      if (res.destroyed || res.writableEnded) return;
      // The name is the app's own origin, for which it speaks itself.
      res.removeHeader('X-Content-Type-Options');
      gateway.forwardPublic(incoming);
    },
    async connect(incoming) {
      const { req, socket } = incoming;
      const endpoints = endpointsFor(incoming);
      if (endpoints !== null) return connectEndpoint(endpoints, incoming, clientOf(req));
      const installation = await admit(incoming, WEBSOCKET_METHOD);
      const gateway = await reach(installation, incoming, { method: WEBSOCKET_METHOD, caller: socket });
      if (!socket.destroyed) gateway.forwardPublicUpgrade(incoming);
    },
  };
}

/** What may be an address: it is remembered for a while. */
const ADDRESS = /^[0-9a-f.:]{2,45}$/i;

/** As its Ingress states it. */
function clientOf(req: IncomingMessage): EndpointClient {
  const address = req.headersDistinct[CLIENT_ADDRESS]?.join();
  return {
    bearer: bearerOf(req, CLIENT_AUTHORIZATION),
    address: address !== undefined && ADDRESS.test(address) ? address : undefined,
  };
}

/** @throws RefusalError `unknown_host`, `not_found` */
function requireOpen({ assignment }: Installation, { head, path }: AcceptedRequest, method: string): void {
  const open = assignment.gateway.public;
  if (open === undefined || publicHostname(open.hostname) !== publicHostname(head.host)) throw refuse('unknown_host');
  if (!routesOf(open).match(method, path)) throw refuse('not_found');
}

/** Of `Installation.reach`: why a backend cannot be reached. */
const WHY = new Set(['workload_unavailable', 'runtime_paused']);

function unavailable() {
  return refuse('workload_unavailable', 'The app does not answer right now. Try again later.', {
    retryAfter: RETRY_AFTER_SECONDS,
  });
}

type OpenToPublic = NonNullable<GatewayPolicy['public']>;
const compiled = new WeakMap<OpenToPublic, PublicRoutes>();

function routesOf(open: OpenToPublic): PublicRoutes {
  const known = compiled.get(open);
  if (known !== undefined) return known;
  const made = publicRoutes(open.routes);
  compiled.set(open, made);
  return made;
}
