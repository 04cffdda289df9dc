// What core gives a node to run (architecture, "The parts"): assignments, their packages, credentials for a start.
// Not a public interface; versioned with the platform.
import * as z from 'zod';
import type { Errors, Limits, Routes } from '../domain.ts';
import { appId, installationId, version } from '../primitives.ts';
import { capabilityHash } from './clients.ts';
import { json, ofInstallation } from './common.ts';
import { gatewayPolicy } from './gateway.ts';
import { assignedProvider } from './intelligence.ts';
import { mostPublicPorts, publicPort, workloadManifest } from './packages.ts';
import { publicPortBinding } from './workloads.ts';

const limits = {
  accountMemoryShare: {
    value: 50,
    unit: 'percent',
    meaning:
      'of the memory of a node, which backends of one account that never sleep may reserve (default of PLATFORM_ACCOUNT_MEMORY_PERCENT)',
  },
  accountUdpPorts: {
    value: 32,
    unit: 'items',
    meaning: 'public UDP ports of the apps of one account (default of PLATFORM_ACCOUNT_UDP_PORTS)',
  },
} as const satisfies Limits;

const errors = {
  account_share: {
    status: 409,
    title: 'The apps of this account have their share already.',
    help: 'Memory that backends reserve which never sleep, and public UDP ports, are shared by all accounts. Remove an app that no longer needs them, or ask the operator to raise PLATFORM_ACCOUNT_MEMORY_PERCENT or PLATFORM_ACCOUNT_UDP_PORTS.',
  },
} as const satisfies Errors;

export const assignment = z.strictObject({
  installationId,
  appId,
  /** Exact origin of the app's frontend: PLATFORM_APP_ORIGIN, and the only origin that may reach the endpoint. */
  appOrigin: z.string(),
  /** Opaque name under which the node listener serves this installation: `/e/<endpointId>/`. */
  endpointId: z.string(),
  /**
   * `pdc_…`, injected as PLATFORM_APP_CAPABILITY and demanded from clients by nodes of former versions, which need it. Other
   * nodes get none: they ask core about the capability of a client, and make one for the workload at each start.
   */
  dataPlaneCapability: z.string().optional(),
  /**
   * Another number means that data-plane capabilities ended before their time: what the node knows of them no longer
   * counts. Absent from cores and for nodes of former versions.
   */
  clientsRevision: z.int().min(0).optional(),
  desired: z.enum(['automatic', 'always', 'stopped']),
  /** Stopped because the owner paused everything: callers get 503 `runtime_paused`. */
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
  udpPorts: z
    .array(
      publicPort.pick({ name: true, containerPort: true }).extend({
        /** The number it had on another node: it gets the same here if that is free. Absent where it had none. */
        hostPort: publicPortBinding.shape.hostPort.optional(),
      }),
    )
    .max(mostPublicPorts),
  /** `object-storage.raw`. A virtual machine is rebuilt when it changes; other workloads run on. */
  objectStorage: z.boolean().default(false),
  /**
   * AI providers that its grants name, in the operator's order. A running workload is restarted when it would gain a
   * variable. Absent: none, which nodes of former versions take.
   */
  intelligence: z.array(assignedProvider).optional(),
  /** Reaches a running Gateway without a restart of the workload. */
  gateway: gatewayPolicy.default({ revision: 0 }),
  /**
   * Core may place it on another node when this one loses contact: it stops by itself when the lease ends. Absent:
   * it stays here, whatever happens.
   */
  movable: z.boolean().optional(),
  /** The shared store its volume lies in, as `registerNodeBody` names it; absent for a volume on this node. */
  volumeStore: z.string().optional(),
});
export type Assignment = z.infer<typeof assignment>;

export const assignmentsQuery = z.strictObject({
  /** The revision already known; the answer waits up to 25 s for a newer one. */
  after: z.string().max(32).optional(),
});
export const assignments = z.strictObject({
  revision: z.string(),
  items: z.array(assignment),
  /** Link keys of the Ingresses, 32 bytes each, base64url: who may reach the public side over TLS. Absent: nobody. */
  ingressKeys: z.array(z.string()).optional(),
  /** Iroh addresses of Ingresses, to which a node behind NAT connects. Absent: of none. */
  ingressLinks: z.array(z.string()).optional(),
  /** `TopologyNode.endpointHost` of this node. */
  endpointHost: z.string().optional(),
});
export type Assignments = z.infer<typeof assignments>;

export const startWorkloadBody = z.strictObject({
  /**
   * X25519 public key of the Gateway of this start, 32 bytes, base64url: core seals secrets for it. Absent from nodes of
   * former versions, whose Gateways get none.
   */
  envelopeKey: z
    .string()
    .regex(/^[A-Za-z0-9_-]{43}$/, 'must be 32 bytes in base64url')
    .optional(),
  /**
   * SHA-256 of PLATFORM_APP_CAPABILITY of this start, base64url: the node makes it. Absent from nodes of former versions.
   */
  appCapabilityHash: capabilityHash.optional(),
});

/** Answer of `POST /v1/node/installations/:id/starts`: new credentials for one workload start; the former ones end. */
export const workloadStart = z.strictObject({ coreServiceCredential: z.string(), epoch: z.int() });
export type WorkloadStart = z.infer<typeof workloadStart>;

const routes = {
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
    body: json(startWorkloadBody.optional()),
    answers: { 200: workloadStart },
    refuses: ['runtime_paused', 'workload_unavailable'],
    rate: 'none',
  },
  'node.package': {
    method: 'GET',
    path: '/v1/node/packages/:hash',
    summary: 'A package assigned to this node',
    callers: ['node'],
    params: z.strictObject({ hash: z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in lower-case hexadecimal') }),
    answers: { 200: 'application/gzip' },
    rate: 'none',
  },
} as const satisfies Routes;

export const placement = { limits, errors, routes } as const;
