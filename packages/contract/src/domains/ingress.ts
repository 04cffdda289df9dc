// Between core and its Ingresses: how one joins and proves itself, the topology of public names, as it is pushed to each of them (specification 4.11), and
// what an Ingress adds to a public request on its way to a node. Not a public interface; versioned with the platform.
import * as z from 'zod';
import type { Limits, Metrics, Routes } from '../domain.ts';
import { installationId, timestamp } from '../primitives.ts';
import { json } from './common.ts';
import {
  ANONYMOUS_BYTES,
  challengeMemberBody,
  joinMemberBody,
  memberChallenge,
  memberName,
  proveMemberBody,
} from './members.ts';

const limits = {
  topologyItems: { value: 1_000, unit: 'items', meaning: 'public names in one line of the topology stream' },
  topologySilence: {
    value: 25,
    unit: 'seconds',
    meaning: 'time after its last sign of life for which a revocation waits for an Ingress, up to 2 s',
  },
  topologyMemory: {
    value: 3_600,
    unit: 'seconds',
    meaning:
      'time for which core remembers a deleted public name; an Ingress that was away longer gets the whole topology',
  },
} as const satisfies Limits;

const metrics = {
  platform_core_topology_streams: {
    type: 'gauge',
    labels: [],
    meaning: 'Ingresses that follow the topology of public names at this core.',
  },
} as const satisfies Metrics;

export const ingressCredential = z.strictObject({
  ingressId: z.string(),
  ingressCredential: z.string(),
  expiresAt: timestamp,
});
export type IngressCredential = z.infer<typeof ingressCredential>;

/** A position in the topology: decimal digits, growing with every change. */
export const topologyRevision = z.string().regex(/^\d{1,18}$/, 'must be 1 to 18 digits');

/** Where an Ingress reaches a node that has public names. */
export const topologyNode = z.strictObject({
  nodeId: z.string(),
  /** For the log and the metrics. */
  name: memberName,
  /** `publicSide.url` of its registration. */
  url: z.url(),
  /** The link key the node must prove over https, 32 bytes, base64url; `null` over plain http. */
  key: z.string().nullable(),
  /** `publicSide.credential` of its registration. Secret. */
  credential: z.string(),
  /**
   * The host at which an Ingress answers for the endpoint side of a node behind NAT: lower case, without port. Requests to
   * `/e/…` there go to the node whatever their method. Absent: clients reach its endpoint side without an Ingress.
   */
  endpointHost: z.string().optional(),
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
  /** @see topologyRoute; `gone` holds host names. At most `limits.topologyItems` of both together. */
  z.strictObject({ kind: z.literal('routes'), items: z.array(topologyRoute), gone: z.array(z.string()) }),
  z.strictObject({ kind: z.literal('current'), revision: topologyRevision }),
]);
export type TopologyLine = z.infer<typeof topologyLine>;

export const topologyQuery = z.strictObject({
  /** The revision already in effect: only what came later follows, where core still knows it. Default: a snapshot. */
  after: topologyRevision.optional(),
  /** `iroh://<key of the Ingress>/public…`: where nodes behind NAT connect to it. Default: nowhere. */
  link: z.string().max(1_000).optional(),
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

/**
 * The id of a public request in the answer and the logs of the platform, for its backend: `X-Request-Id` there is the
 * client's own. Not of WebSockets.
 */
export const REQUEST_ID = 'platform-request-id';

/** The client's own `Authorization`, of requests to `TopologyNode.endpointHost` alone: that of the Ingress stands in its place. */
export const CLIENT_AUTHORIZATION = 'platform-client-authorization';

/** Of the topology stream: a line of JSON each, {@link topologyLine}, or an empty one. */
export const TOPOLOGY_STREAM = 'application/x-ndjson';

const routes = {
  'ingress.join': {
    method: 'POST',
    path: '/v1/ingress/join',
    summary: 'Join as an Ingress, with the operator’s enrolment token',
    callers: ['anonymous'],
    body: json(joinMemberBody, ANONYMOUS_BYTES),
    answers: { 201: ingressCredential },
    refuses: ['unauthenticated'],
    rate: 'join',
  },
  'ingress.challenge': {
    method: 'POST',
    path: '/v1/ingress/challenge',
    summary: 'A nonce that an Ingress signs once, within a minute',
    callers: ['anonymous'],
    body: json(challengeMemberBody, ANONYMOUS_BYTES),
    answers: { 200: memberChallenge },
    rate: 'join',
  },
  'ingress.credential': {
    method: 'POST',
    path: '/v1/ingress/credential',
    summary: 'An Ingress’s next credential, in exchange for a signature by its key; the previous one expires',
    callers: ['anonymous'],
    body: json(proveMemberBody, ANONYMOUS_BYTES),
    answers: { 200: ingressCredential },
    refuses: ['unauthenticated'],
    rate: 'join',
  },
  'ingress.topology': {
    method: 'GET',
    path: '/v1/ingress/topology',
    summary: 'The topology of public names, and every change of it as it happens',
    callers: ['ingress'],
    query: topologyQuery,
    answers: { 200: TOPOLOGY_STREAM },
    rate: 'none',
  },
  'ingress.applied': {
    method: 'POST',
    path: '/v1/ingress/applied',
    summary: 'Report that a revision of the topology is in effect',
    callers: ['ingress'],
    body: json(appliedTopologyBody),
    answers: { 204: null },
    rate: 'none',
  },
  'ingress.report': {
    method: 'POST',
    path: '/v1/ingress/report',
    summary: 'Report the requests of public names',
    callers: ['ingress'],
    body: json(ingressReportBody, 1024 * 1024),
    answers: { 204: null },
    rate: 'none',
  },
} as const satisfies Routes;

export const ingress = { limits, metrics, routes } as const;
