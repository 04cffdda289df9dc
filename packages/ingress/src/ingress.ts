// The Ingress: answers the internet for the apps of a platform, as core's topology says, and carries what may pass to their
// nodes. Read this file first: it puts the parts together. The way of a request is front.ts; what it goes by is topology.ts,
// which follow-topology.ts keeps current.
import { setTimeout as delay } from 'node:timers/promises';
import { linkCertificate } from '@platform/link';
import { type AccessLogPlace, openAccessLog } from './access-log.ts';
import { type CorePlace, createCoreClient } from './core-client.ts';
import { Currency, openBootClock } from './currency.ts';
import { doctorNames, doctorProofs } from './doctor-name.ts';
import { followTopology } from './follow-topology.ts';
import { Front } from './front.ts';
import { type IrohPlace, openIrohLink } from './iroh-link.ts';
import { defaultLimits, type IngressLimits } from './limits.ts';
import { listenPlain, publicServerOptions } from './listener.ts';
import type { Log } from './log.ts';
import { type IngressMetrics, type IngressState, noMetrics } from './metrics-port.ts';
import { NodeLinks } from './node-links.ts';
import { certificateState, openPublicSide, type PublicSide, type PublicTls } from './tls/public-side.ts';
import { Topology } from './topology.ts';
import { reportTraffic, Traffic } from './traffic.ts';

export type { AccessLogPlace } from './access-log.ts';
export { defaultLimits, type IngressLimits } from './limits.ts';
export type { PublicTls } from './tls/public-side.ts';

export interface IngressOptions extends CorePlace {
  readonly listen: { readonly host: string; readonly port: number };
  /** Nodes behind NAT connect here over UDP. Default: they cannot, and their apps answer 503. */
  readonly iroh?: IrohPlace;
  /** Certificates for `listen`. Default: it speaks plain HTTP. */
  readonly tls?: PublicTls;
  /** Default: those of contract 4e. */
  readonly limits?: IngressLimits;
  /** Addresses and CIDR blocks whose forwarding fields are believed. */
  readonly trustedProxies: readonly string[];
  readonly accessLog: AccessLogPlace;
  readonly log: Log;
  readonly metrics?: IngressMetrics;
  /** Core does not know this Ingress any more. */
  readonly onRemoved?: () => void;
  readonly clock: () => Date;
  /** Milliseconds since some moment, going on while the machine sleeps. Default: since its start. */
  readonly uptime?: () => number;
}

export interface Ingress {
  readonly port: number;
  /** Of plain HTTP beside TLS; `null` where there is none. */
  readonly plainPort: number | null;
  /** Resolves when the topology is known for the first time. */
  readonly informed: Promise<void>;
  /** What it knows, for metrics. */
  state(): IngressState;
  /** Takes no new connections, ends WebSockets, gives requests under way eight seconds at most, and ends. */
  stop(): Promise<void>;
}

/** For requests under way, before what is left is broken off; within the time that a service manager gives. */
const DRAIN_MILLISECONDS = 8_000;

/** @throws Error when the address cannot be bound */
export async function startIngress(options: IngressOptions): Promise<Ingress> {
  const { log, metrics = noMetrics, limits = defaultLimits, trustedProxies, clock } = options;
  const { uptime = openBootClock() } = options;
  const certificate = await linkCertificate(options.key);
  const iroh =
    options.iroh === undefined ? null : await openIrohLink(options.key, options.iroh, (key) => nodes.hasKey(key));
  const core = createCoreClient(options, { certificate, uptime, link: iroh?.address });
  const nodes = new NodeLinks(certificate, iroh?.endpoint ?? null);
  const topology = new Topology({
    nodes(known) {
      nodes.change(known);
      void iroh?.recheck();
    },
  });
  const traffic = new Traffic();
  const access = openAccessLog(
    options.accessLog,
    () => metrics.logLineDropped(),
    (error) => log.error({ reason: error.message }, 'the access log cannot be written'),
  );
  const currency = new Currency({ uptime, lapsed: () => front.cutOff() });
  const isDoctor = doctorNames(options.key, clock);
  let publicSide: PublicSide | null = null;
  const front = new Front({
    topology,
    limits,
    isCurrent: () => currency.isCurrent(),
    now: () => performance.now(),
    nodes,
    traffic,
    access,
    log,
    metrics,
    trustedProxies,
    clock,
    isDoctor,
    doctor: { isProof: doctorProofs(options.key, clock), certificates: () => publicSide?.certificates ?? null },
  });
  const { tls, listen } = options;
  const behindProxies = trustedProxies.length > 0;
  const protocol = tls === undefined ? 'http' : 'https';
  const server = publicServerOptions({ front, protocol, limits, behindProxies, log });
  const isKnown = (host: string): boolean => topology.find(host) !== undefined;
  const doctor = { pair: certificate, covers: isDoctor };
  if (tls !== undefined) publicSide = await openPublicSide({ tls, listen, server, isKnown, doctor, log, clock });
  const listener = publicSide ?? (await listenPlain(server, listen));
  const stopping = new AbortController();
  const informed = Promise.withResolvers<void>();
  const following = followTopology(
    {
      core,
      topology,
      log,
      heard() {
        if (topology.revision === undefined) return;
        currency.confirm();
        informed.resolve();
      },
      removed: () => options.onRemoved?.(),
    },
    stopping.signal,
  );
  const endReports = reportTraffic(traffic, core, log);
  const state = (): IngressState => ({
    publicNames: topology.size,
    nodes: nodes.size,
    isCurrent: currency.isCurrent(),
    certificates: publicSide === null ? null : certificateState(publicSide, clock()),
  });
  metrics.watch({ state });
  return {
    port: listener.port,
    plainPort: publicSide?.plainPort ?? null,
    informed: informed.promise,
    state,
    async stop() {
      const drained = listener.drain();
      front.endSockets();
      await Promise.race([drained, delay(DRAIN_MILLISECONDS, undefined, { ref: false })]);
      listener.end();
      await drained;
      currency.close();
      stopping.abort();
      await following;
      await endReports();
      await Promise.all([nodes.close(), core.close(), access.close(), publicSide?.close()]);
      await iroh?.close();
    },
  };
}
