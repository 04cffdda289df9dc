// Between core and the Runtime of a node: assignments, workload starts, status, control (architecture, "The parts").
// Not a public interface; versioned with the platform.
import * as z from 'zod';
import type { Limits, Routes } from '../domain.ts';
import { appId, installationId, timestamp, version } from '../primitives.ts';
import { emptyBody, json } from './common.ts';
import { machineLoad } from './fleet.ts';
import { mostPublicPorts, publicPort, workloadManifest } from './packages.ts';
import { logEntry, workloadStatus, workloadUse } from './workloads.ts';

const limits = {
  nodeTokenSeconds: { value: 3_600, unit: 'seconds', meaning: 'life of an enrolment token of a node' },
  nodeCredentialSeconds: {
    value: 3_600,
    unit: 'seconds',
    meaning: 'life of a node credential; nodes renew it at half',
  },
  nodeChallengeSeconds: { value: 60, unit: 'seconds', meaning: 'life of the nonce a node signs for a credential' },
} as const satisfies Limits;

export const assignment = z.strictObject({
  installationId,
  appId,
  /** Exact origin of the app's frontend: PLATFORM_APP_ORIGIN, and the only origin that may reach the endpoint. */
  appOrigin: z.string(),
  /** Opaque name under which the node listener serves this installation: `/e/<endpointId>/`. */
  endpointId: z.string(),
  /** `pdc_…`, injected as PLATFORM_APP_CAPABILITY and demanded from native clients and browsers. */
  dataPlaneCapability: z.string(),
  desired: z.enum(['automatic', 'always', 'stopped']),
  /** Stopped because the owner paused everything: who comes meanwhile is told so. */
  paused: z.boolean().default(false),
  /** SHA-256 of the package blob, hexadecimal. */
  packageHash: z.string(),
  version,
  workload: workloadManifest,
  /** What the grants allow of the network beyond the Gateway; a change takes effect on a running workload at once. */
  network: z.strictObject({
    /** `network.public`: publicly routable IPv4 addresses. */
    public: z.boolean(),
    /** `runtime.network-tunnel`: NET_ADMIN in its own network and the tunnel device. */
    tunnel: z.boolean(),
  }),
  /** Public UDP ports that the manifest declares and `endpoints.public.udp` grants. */
  udpPorts: z.array(publicPort.pick({ name: true, containerPort: true })).max(mostPublicPorts),
  /** `object-storage.raw`. A virtual machine is rebuilt when it changes; other workloads run on. */
  objectStorage: z.boolean().default(false),
  /**
   * Core may place it on another node when this one is not heard of: it stops by itself when the lease ends. Absent:
   * it stays here, whatever happens.
   */
  movable: z.boolean().optional(),
  /** The shared store its volume lies in, as {@link registerNodeBody} names it; absent for a volume on this node. */
  volumeStore: z.string().optional(),
});
export type Assignment = z.infer<typeof assignment>;

export const assignmentsQuery = z.strictObject({
  /** The revision already known; the answer waits up to 25 s for a newer one. */
  after: z.string().max(32).optional(),
});
export const assignments = z.strictObject({ revision: z.string(), items: z.array(assignment) });
export type Assignments = z.infer<typeof assignments>;

/** Answer of `POST /v1/node/installations/:id/starts`: new credentials for one workload start; the former ones end. */
export const workloadStart = z.strictObject({ coreServiceCredential: z.string(), epoch: z.int() });
export type WorkloadStart = z.infer<typeof workloadStart>;

/**
 * Answer of `GET /v1/node/installations/:id/leases`: milliseconds until the last work lease of the installation ends,
 * negative when it has ended, `null` when there was none. A duration, because clocks of two machines differ.
 */
export const workloadLeases = z.strictObject({ endInMilliseconds: z.int().nullable() });
export type WorkloadLeases = z.infer<typeof workloadLeases>;
/** What a node is made of, and what runs its workloads; shown to the operator and counted at placement. */
const nodeMachine = z.strictObject({
  /** Memory that workloads may take together. */
  memoryMiB: z
    .int()
    .min(1)
    .max(2 ** 31 - 1),
  cpus: z.number().min(0.01).max(100_000),
  /** E.g. `process`. */
  driver: z.string().max(64),
  /** What confines workloads, in words. */
  mechanism: z.string().max(200),
  runtimes: z.array(z.enum(['node', 'oci'])).max(2),
  /** Of the platform's software there. */
  version: z.string().max(64),
  /** Identity of the folder that it shares with other nodes for volumes; absent when it has none. */
  sharedStore: z.uuid().optional(),
});
export type NodeMachine = z.infer<typeof nodeMachine>;

export const registerNodeBody = z.strictObject({
  /**
   * Where core reaches the control side of the node: plain http on the loopback interface for a node on core's machine,
   * https under the key of the node for any other.
   */
  controlUrl: z.url(),
  /** What core presents there as Bearer. */
  controlCredential: z.string().min(20).max(200),
  /** Where browsers reach the endpoint side: PLATFORM_NODE_ORIGIN. */
  inboundOrigin: z.url(),
  machine: nodeMachine.optional(),
});

/** Ed25519 public key, 32 bytes, base64url. */
const publicKey = z.string().regex(/^[A-Za-z0-9_-]{43}$/);
/** Ed25519 signature, 64 bytes, base64url. */
const signature = z.string().regex(/^[A-Za-z0-9_-]{86}$/);

export const nodeName = z
  .string()
  .max(63)
  .regex(/^[a-z0-9]+(?:[-.][a-z0-9]+)*$/, 'must be lower-case letters, digits, single dashes and dots');

export const joinNodeBody = z.strictObject({
  /** `pne_…`: the secret of an enrolment token. */
  token: z.string().max(100),
  publicKey,
  name: nodeName,
  /** Over {@link joinProofText}. */
  signature,
});
export const nodeCredential = z.strictObject({ nodeId: z.string(), nodeCredential: z.string(), expiresAt: timestamp });
export type NodeCredential = z.infer<typeof nodeCredential>;

export const challengeNodeBody = z.strictObject({ publicKey });
export const nodeChallenge = z.strictObject({ nonce: z.string() });
export type NodeChallenge = z.infer<typeof nodeChallenge>;
export const proveNodeBody = z.strictObject({
  publicKey,
  nonce: z.string().max(100),
  /** Over {@link credentialProofText}. */
  signature,
});

/** What a node signs to join; names core, so that the signature is worth nothing elsewhere. */
export function joinProofText(coreHost: string, token: string): string {
  return `platform node join v1\n${coreHost}\n${token}`;
}

/** What a node signs for its next credential. */
export function credentialProofText(coreHost: string, nonce: string): string {
  return `platform node credential v1\n${coreHost}\n${nonce}`;
}

/** A node that reports absurd totals spoils a figure and nothing else. */
const tally = z.int().min(0).max(1e15);
const tallies = z.strictObject({ requests: tally, sentBytes: tally, receivedBytes: tally });

export const nodeHeartbeatBody = z.strictObject({
  load: machineLoad.optional(),
  /** What went through all Gateways of the node since its Runtime started; a new `run` counts from zero. */
  traffic: z.strictObject({ run: z.uuid(), outbound: tallies, inbound: tallies }).optional(),
});
export type NodeHeartbeat = z.infer<typeof nodeHeartbeatBody>;

export const nodeLease = z.strictObject({
  /**
   * So long after it *sent* the heartbeat that was answered, a node may run what core may place elsewhere. `null`:
   * core never takes this node for lost.
   */
  leaseMilliseconds: z.int().nullable(),
  heartbeatMilliseconds: z.int(),
});
export type NodeLease = z.infer<typeof nodeLease>;

export const installationStatus = workloadStatus.extend({
  installationId,
  lastExit: z.strictObject({ at: timestamp, reason: z.string() }).nullable(),
  /** Limits that this machine does not enforce, and grants that it cannot give: one sentence for a person each. */
  unenforced: z.array(z.string()),
});
export type InstallationStatus = z.infer<typeof installationStatus>;

/** Answer of the node's `/control/installations/:id/start|stop|status`: what is reported, and what it uses right now. */
export const installationDetail = installationStatus.extend({ usage: workloadUse.nullable() });
export type InstallationDetail = z.infer<typeof installationDetail>;

export const nodeStatusBody = z.strictObject({ items: z.array(installationStatus).max(10_000) });

/** Answer of the node's `GET /control/installations/:id/logs?limit=&before=`, newest first. */
export const nodeLogs = z.strictObject({ items: z.array(logEntry), before: z.string().nullable() });
export type NodeLogs = z.infer<typeof nodeLogs>;

/**
 * One line of the node's `GET /control/installations/:id/logs/stream`: log lines in their order. The answer is a line of
 * JSON for each piece, and an empty line from time to time.
 */
export const nodeLogPiece = z.strictObject({
  items: z.array(logEntry),
  /** Position after these lines; the next stream may begin there. */
  last: z.int().min(0),
  /** Lines before these that were removed from the log before this reader took them. */
  missed: z.int().min(0),
  /** Only in the first piece of a stream that began with the newest lines: where older ones are. */
  before: z.string().nullable().optional(),
});
export type NodeLogPiece = z.infer<typeof nodeLogPiece>;

const ofInstallation = z.strictObject({ id: installationId });

const routes = {
  'node.join': {
    method: 'POST',
    path: '/v1/node/join',
    summary: 'Become a node, with an enrolment token of the operator',
    callers: ['anonymous'],
    body: json(joinNodeBody),
    answers: { 201: nodeCredential },
    rate: 'authentication',
  },
  'node.challenge': {
    method: 'POST',
    path: '/v1/node/challenge',
    summary: 'A nonce for a node to sign, once and within a minute',
    callers: ['anonymous'],
    body: json(challengeNodeBody),
    answers: { 200: nodeChallenge },
    rate: 'authentication',
  },
  'node.credential': {
    method: 'POST',
    path: '/v1/node/credential',
    summary: 'The next credential of a node, for a proof with its key; the former one ends',
    callers: ['anonymous'],
    body: json(proveNodeBody),
    answers: { 200: nodeCredential },
    rate: 'authentication',
  },
  'node.heartbeat': {
    method: 'POST',
    path: '/v1/node/heartbeat',
    summary: 'A node lives; its lease begins anew',
    callers: ['node'],
    body: json(nodeHeartbeatBody.optional()),
    answers: { 200: nodeLease },
    rate: 'none',
  },
  'node.register': {
    method: 'POST',
    path: '/v1/node/register',
    summary: 'Tell core where this node is reached',
    callers: ['node'],
    body: json(registerNodeBody),
    answers: { 204: null },
    rate: 'none',
  },
  'node.assignments': {
    method: 'GET',
    path: '/v1/node/assignments',
    summary: 'What should run on this node (long poll)',
    callers: ['node'],
    query: assignmentsQuery,
    answers: { 200: assignments },
    rate: 'none',
  },
  'node.starts': {
    method: 'POST',
    path: '/v1/node/installations/:id/starts',
    summary: 'New credentials for one workload start',
    callers: ['node'],
    params: ofInstallation,
    body: json(emptyBody.optional()),
    answers: { 200: workloadStart },
    rate: 'none',
  },
  'node.leases': {
    method: 'GET',
    path: '/v1/node/installations/:id/leases',
    summary: 'How long work leases keep a workload awake',
    callers: ['node'],
    params: ofInstallation,
    answers: { 200: workloadLeases },
    rate: 'none',
  },
  'node.status': {
    method: 'POST',
    path: '/v1/node/status',
    summary: 'Report the state of workloads',
    callers: ['node'],
    body: json(nodeStatusBody, 4 * 1024 * 1024),
    answers: { 204: null },
    rate: 'none',
  },
  'node.package': {
    method: 'GET',
    path: '/v1/node/packages/:hash',
    summary: 'A package assigned to this node',
    callers: ['node'],
    params: z.strictObject({ hash: z.string().regex(/^[0-9a-f]{64}$/) }),
    answers: { 200: 'application/gzip' },
    rate: 'none',
  },
} as const satisfies Routes;

export const nodes = { limits, routes } as const;
