// Between core and its Ingresses: the topology of public names, as it is pushed to each of them (specification 4.11), and
// what an Ingress adds to a public request on its way to a node. Not a public interface; versioned with the platform.
import * as z from 'zod';
import { installationId } from '../primitives.ts';
import { nodeName } from './nodes.ts';

/** A position in the topology: decimal digits, growing with every change. */
export const topologyRevision = z.string().regex(/^\d{1,18}$/);

/** Where an Ingress reaches a node that has public names. */
export const topologyNode = z.strictObject({
  nodeId: z.string(),
  /** For the log and the metrics. */
  name: nodeName,
  /** `publicSide.url` of its registration. */
  url: z.url(),
  /** The link key the node must prove over https, 32 bytes, base64url; `null` over plain http. */
  key: z.string().nullable(),
  /** `publicSide.credential` of its registration. Secret. */
  credential: z.string(),
});
export type TopologyNode = z.infer<typeof topologyNode>;

/** One public name, and which requests to it pass. Another name is 421 `unknown_host`. */
export const topologyRoute = z.strictObject({
  /** Lower case, without port. */
  hostname: z.string(),
  installationId,
  /** `null` while no node has it: its requests are 503 `workload_unavailable`. */
  nodeId: z.string().nullable(),
  /** As `openRoutes` gives them. */
  routes: z.array(z.string()),
});
export type TopologyRoute = z.infer<typeof topologyRoute>;

/**
 * One line of the topology stream, JSON. What lies between two `current` lines belongs together and takes effect with the
 * later one, at once. A line that is empty says that the connection stands; one comes every 10 s.
 */
export const topologyLine = z.discriminatedUnion('kind', [
  /** Everything known so far is void with the next `current`: the whole topology follows. */
  z.strictObject({ kind: z.literal('snapshot') }),
  z.strictObject({ kind: z.literal('nodes'), items: z.array(topologyNode), gone: z.array(z.string()) }),
  /** @see topologyRoute; `gone` holds host names. At most 1,000 of both together. */
  z.strictObject({ kind: z.literal('routes'), items: z.array(topologyRoute), gone: z.array(z.string()) }),
  z.strictObject({ kind: z.literal('current'), revision: topologyRevision }),
]);
export type TopologyLine = z.infer<typeof topologyLine>;

export const topologyQuery = z.strictObject({
  /** The revision already in effect: only what came later follows, where core still knows it. Default: a snapshot. */
  after: topologyRevision.optional(),
});

/** Milliseconds between two lines of the stream, at most; an Ingress takes a longer silence for a lost connection. */
export const TOPOLOGY_BEAT_MILLISECONDS = 10_000;

/** An Ingress says that a revision is in effect: nothing passes, and is under way, that it no longer allows. */
export const appliedTopologyBody = z.strictObject({ revision: topologyRevision });

/** Requests of one public name since the last report, by what became of them. */
export const publicTraffic = z.strictObject({
  hostname: z.string(),
  /** Passed to the node. */
  requests: z.int().min(0),
  /** Refused here, by error code. */
  refused: z.record(z.string().max(64), z.int().min(0)),
});
export type PublicTraffic = z.infer<typeof publicTraffic>;

export const ingressReportBody = z.strictObject({
  /** Of the Ingress since its start; a report that is repeated counts once. */
  run: z.uuid(),
  sequence: z.int().min(0),
  items: z.array(publicTraffic).max(1_000),
});
export type IngressReport = z.infer<typeof ingressReportBody>;

/**
 * What an Ingress says of the client to the node, which believes it from an Ingress alone: its address without port, and
 * `http` or `https`. They replace whatever the client sent under these names.
 */
export const CLIENT_ADDRESS = 'platform-client-address';
export const CLIENT_PROTOCOL = 'platform-client-protocol';
