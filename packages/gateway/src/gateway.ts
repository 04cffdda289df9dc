// One Gateway: the only door between one workload and the platform, both ways. Read this file first; packages/http
// holds the HTTP rules and the carrying, services/ what a workload reaches, inbound/ how the workload is reached.
import type { AddressInfo } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { type GatewayPolicy, type Refusal, WEBSOCKET_METHOD } from '@platform/contract';
import {
  type Abandonable,
  type Dialer,
  endFaulty,
  endWithProblem,
  type Fault,
  faultOf,
  type IncomingRequest,
  type IncomingUpgrade,
  type OutboundNetwork,
  openGatewayDialer,
  openPace,
  type RunningGateway,
  type Shares,
  sendProblem,
  type Traffic,
  type UpstreamFailure,
} from '@platform/http';
import { type EnvelopeKey, EnvelopeOpener } from '@platform/link';
import { type Direction, openActivity } from './activity.ts';
import { openByteMeter } from './byte-meter.ts';
import { type DescriptorBudget, processDescriptors } from './descriptor-budget.ts';
import { type Front, type ListenTarget, openFront } from './front.ts';
import { openInbound } from './inbound/inbound.ts';
import { openPublicInbound } from './inbound/public.ts';
import { workloadFields } from './inbound/public-client.ts';
import { processMemory } from './memory-budget.ts';
import { objectStorageService, readObjectTarget } from './services/object-storage/object-storage.ts';
import { type OpenService, openServices } from './services/registry.ts';
import type { ServiceContext } from './services/service.ts';
import type { ConnectTo, CoreAddress } from './upstream-pools.ts';

export interface GatewayOptions extends CoreAddress {
  /** For the log only. */
  readonly installationId: string;
  /** Origin of the app's frontend, e.g. `http://notes--x1.apps.platform.localhost:8787`. */
  readonly appOrigin: string;
  /** `pgw_…`: what the workload must present. */
  readonly gatewayCredential: string;
  /** `pcs_…`: what core is shown instead. Never leaves towards the workload. */
  readonly coreServiceCredential: string;
  /** Opens what core seals for this Gateway; core has the public half. */
  readonly envelopeKey: EnvelopeKey;
  /** What core lets it do beyond that; replaced by `apply`. */
  readonly policy: GatewayPolicy;
  /** Default: outbound calls reach what is publicly routable, with a usual certificate. */
  readonly outbound?: OutboundNetwork;
  readonly listen: ListenTarget;
  /** Where its raw object storage listens, an origin of its own (specification 4.5). Default: there is none. */
  readonly storage?: StorageTarget;
  /** As `FrontOptions.hosts`: the host of its `PLATFORM_API_URL`. */
  readonly hosts?: readonly string[];
  /** What leads to the workload's HTTP port. It need not be there before the first inbound request. */
  readonly inbound: ConnectTo;
  /** Milliseconds that core or the workload may take to the head of an answer, before 504. Default 60,000. */
  readonly headersTimeout?: number;
  /** How its services reach what is neither core nor the workload. Default: connections of this process. */
  readonly dialer?: Dialer;
  /** Default: the services of the platform. */
  readonly services?: readonly OpenService[];
  /** What it shares with the other Gateways. Default: one for all of this process. */
  readonly descriptors?: DescriptorBudget;
  /** The same for bodies that it holds, in bytes. */
  readonly memory?: Shares;
  /** At the begin and the end of every request, both directions: what keeps a workload awake. */
  onActivity(): void;
  /** Never receives a credential, a query, a header or a body. */
  log(event: GatewayEvent): void;
}

export type { ListenTarget } from './front.ts';

export interface StorageTarget {
  readonly listen: ListenTarget;
  /** As `GatewayOptions.hosts`. */
  readonly hosts?: readonly string[];
}

export type GatewayEvent =
  | (UpstreamFailure & { readonly event: 'upstream_failure'; readonly installationId: string })
  /** An internal error ended one request, or occurred in a hook. */
  | (Fault & { readonly event: 'gateway_fault'; readonly installationId: string })
  /** The listener could not accept a connection, for instance for want of file descriptors; it keeps listening. */
  | { readonly event: 'listener_failure'; readonly installationId: string; readonly reason: string };

export type { RunningGateway } from '@platform/http';

/** A Gateway in this process, which says where it listens. */
export interface ListeningGateway extends RunningGateway {
  /** Where the outbound side listens, as `net.Server.address()`. */
  address(): AddressInfo | string | null;
  /** The same for its object storage; `null` without any. */
  storageAddress(): AddressInfo | string | null;
}

/** Requests still under way when a Gateway closes are broken off after this. */
const CLOSE_GRACE_MS = 3_000;
const DEFAULT_HEADERS_TIMEOUT_MS = 60_000;

/** Starts a Gateway and resolves once it listens. Rejects when the address cannot be bound. */
export async function startGateway(options: GatewayOptions): Promise<ListeningGateway> {
  const { installationId, appOrigin, headersTimeout = DEFAULT_HEADERS_TIMEOUT_MS } = options;
  const onFault = (error: unknown): void => options.log({ event: 'gateway_fault', installationId, ...faultOf(error) });
  const share = (options.descriptors ?? processDescriptors()).open();
  const activity = openActivity(() => {
    try {
      options.onActivity();
    } catch (error) {
      onFault(error);
    }
  }, share);
  const onFailure = (failure: UpstreamFailure): void =>
    options.log({ event: 'upstream_failure', installationId, ...failure });
  const context: ServiceContext = {
    ...options,
    envelopes: new EnvelopeOpener(options.envelopeKey),
    dialer: options.dialer ?? openGatewayDialer(),
    outbound: options.outbound ?? { privateOrigins: [], ca: null },
    memory: (options.memory ?? processMemory()).open(),
    headersTimeout,
    onFailure,
    onFault,
  };
  const services = openServices(context, options.services);
  const storage = options.storage === undefined ? null : openServices(context, [objectStorageService]);
  // Both meters sit on the workload's own connections, so what they read is what it sent.
  const meters = { outbound: openByteMeter(), inbound: openByteMeter() };
  const inbound = openInbound({
    to: options.inbound,
    appOrigin,
    headersTimeout,
    meter: meters.inbound,
    onFailure,
  });
  const publicInbound = openPublicInbound({
    to: options.inbound,
    policy: options.policy.public,
    clientFields: workloadFields,
    headersTimeout,
    meter: meters.inbound,
    onFailure,
  });
  let { policy: latest } = options;
  let closing: Promise<void> | null = null;

  const pace = openPace(() => performance.now());
  const shared = {
    gatewayCredential: options.gatewayCredential,
    activity,
    share,
    meter: meters.outbound,
    pace,
    onFault,
    onFailure: (reason: string) => options.log({ event: 'listener_failure', installationId, reason }),
  };
  const cutInbound = (): Promise<unknown> => Promise.all([inbound.close(), publicInbound.close()]);
  const release = (): Promise<unknown> => Promise.all([services.close(), storage?.close(), cutInbound()]);
  const fronts: Front[] = [];
  try {
    fronts.push(await openFront({ ...shared, listen: options.listen, hosts: options.hosts, services }));
    if (options.storage !== undefined && storage !== null)
      fronts.push(
        await openFront({
          ...shared,
          listen: options.storage.listen,
          hosts: options.storage.hosts,
          services: storage,
          readTarget: readObjectTarget,
        }),
      );
  } catch (error) {
    for (const front of fronts) {
      void front.close();
      front.cut();
    }
    await release();
    throw error;
  }

  function inboundRefusal(direction: Direction): Refusal | null {
    if (closing !== null) return { code: 'unavailable', retryAfter: 1 };
    return direction.isOverLimit() ? { code: 'concurrency_limited', retryAfter: 1 } : null;
  }

  function take(direction: Direction, { res }: IncomingRequest, forward: () => Abandonable | null): void {
    direction.begin();
    let work: Abandonable | null = null;
    res.on('close', () => {
      work?.abandon();
      direction.end();
    });
    const refusal = inboundRefusal(direction);
    if (refusal !== null) {
      sendProblem(res, refusal, { close: closing !== null });
      return;
    }
    try {
      work = forward();
    } catch (error) {
      endFaulty(res);
      onFault(error);
    }
  }

  function takeUpgrade(direction: Direction, { socket }: IncomingUpgrade, forward: () => void): void {
    direction.begin();
    socket.once('close', direction.end);
    const refusal = inboundRefusal(direction);
    if (refusal !== null) endWithProblem(socket, refusal);
    else forward();
  }

  async function stop(): Promise<void> {
    const stopped = Promise.all(fronts.map((front) => front.close()));
    const force = setTimeout(() => {
      for (const front of fronts) front.cut();
      void cutInbound();
    }, CLOSE_GRACE_MS);
    await Promise.all([stopped, activity.idle()]);
    clearTimeout(force);
    await release();
  }

  return {
    forwardInbound: (incoming, path) => take(activity.in, incoming, () => inbound.forward(incoming, path)),
    forwardUpgrade: (incoming, path) =>
      takeUpgrade(activity.in, incoming, () => inbound.forwardUpgrade(incoming, path)),
    forwardPublic(incoming) {
      // Refused first: what nobody granted keeps no workload awake.
      const refusal = publicInbound.refusalOf(incoming, incoming.req.method ?? '');
      if (refusal !== null) sendProblem(incoming.res, refusal);
      else take(activity.public, incoming, () => publicInbound.forward(incoming));
    },
    forwardPublicUpgrade(incoming) {
      const refusal = publicInbound.refusalOf(incoming, WEBSOCKET_METHOD);
      if (refusal !== null) endWithProblem(incoming.socket, refusal);
      else takeUpgrade(activity.public, incoming, () => publicInbound.forwardUpgrade(incoming));
    },
    async apply(policy) {
      if (policy.revision < latest.revision || isDeepStrictEqual(policy, latest)) return;
      latest = policy;
      publicInbound.apply(policy.public);
      await Promise.all([services.apply(policy), storage?.apply(policy)]);
    },
    activeRequests: activity.count,
    traffic: () => ({
      outbound: trafficOf(activity.out.begun(), meters.outbound.total()),
      inbound: trafficOf(activity.in.begun() + activity.public.begun(), meters.inbound.total()),
    }),
    address: () => fronts[0]?.address() ?? null,
    storageAddress: () => fronts[1]?.address() ?? null,
    close() {
      closing ??= stop();
      return closing;
    },
  };
}

function trafficOf(requests: number, { read, written }: { readonly read: number; readonly written: number }): Traffic {
  return { requests, sentBytes: read, receivedBytes: written };
}
