// The Runtime's side of its conversation with core: assignments, workload starts, packages, status.
import type { Readable } from 'node:stream';
import {
  type Assignments,
  assignments,
  credentialProofText,
  type InstallationStatus,
  limits,
  memberChallenge,
  type NodeHeartbeat,
  type NodeLease,
  nodeCredential,
  nodeLease,
  type registerNodeBody,
  validCapabilities,
  type WorkloadStart,
  workloadLeases,
  workloadStart,
} from '@platform/contract';
import { type LinkCertificate, type LinkKey, openCoreConnection, type Proof } from '@platform/link';
import type * as z from 'zod';

export interface CoreClientOptions {
  /** Where core listens, e.g. `http://127.0.0.1:8787`. */
  readonly coreOrigin: string;
  /** The key that core must prove over https; without it its certificate must be valid for `coreHost`. */
  readonly coreKey?: Buffer;
  /** Value of the Host header, e.g. `shell.platform.localhost:8787`. */
  readonly coreHost: string;
  /** `pnd_…`; without one the first is got by a proof with the key. */
  readonly nodeCredential?: string;
  /** Renews the credential. Without it the given one is the only one. */
  readonly nodeKey?: LinkKey;
  /** What proves this node to core over https. */
  readonly linkCertificate?: LinkCertificate;
  /** Milliseconds since some moment, going on while the machine sleeps. */
  readonly uptime: () => number;
}

export interface CoreClient {
  register(body: z.input<typeof registerNodeBody>, signal: AbortSignal): Promise<void>;
  /** Sends a heartbeat with the node's report; `milliseconds` is the time limit for the answer. */
  heartbeat(report: NodeHeartbeat, milliseconds: number, signal: AbortSignal): Promise<NodeLease>;
  /** Returns the lease, once nothing runs here any more. */
  leave(signal: AbortSignal): Promise<void>;
  /** Waits up to 25 s on core's side for a revision other than `after`. */
  assignments(after: string | undefined, signal: AbortSignal): Promise<Assignments>;
  /**
   * New credentials for one workload start; the former ones end.
   * @param start.envelopeKey for which core seals secrets from now on
   * @param start.appCapabilityHash SHA-256 of PLATFORM_APP_CAPABILITY, base64url
   */
  startWorkload(
    installationId: string,
    start: { readonly envelopeKey: string; readonly appCapabilityHash: string },
  ): Promise<WorkloadStart>;
  /**
   * Counts the image of a workload towards the account of its installation.
   * @throws CoreError with the code `disk_quota` when the account may not take so much
   */
  claimImage(installationId: string, bytes: number): Promise<void>;
  /** Which of these data-plane capabilities are valid for an installation: milliseconds until they end, by hash. */
  validCapabilities(installationId: string, hashes: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Milliseconds until the last work lease of an installation ends, negative when it has; null without one. */
  leasesEndIn(installationId: string): Promise<number | null>;
  status(items: readonly InstallationStatus[], signal: AbortSignal): Promise<void>;
  /** The package as it was published; the caller checks the hash. */
  packageBlob(hash: string, signal: AbortSignal): Promise<Readable>;
  close(): Promise<void>;
}

const LONG_POLL_TIMEOUT = 40_000;
/** A client waits for the answer, and so may the owner who disconnects one. */
const QUESTION_TIMEOUT = 5_000;

/** How a node proves itself. */
const proof: Proof = {
  challengePath: '/v1/node/challenge',
  credentialPath: '/v1/node/credential',
  text: credentialProofText,
  readNonce: (body) => memberChallenge.parse(body).nonce,
  readCredential: (body) => nodeCredential.parse(body).nodeCredential,
  seconds: limits.nodeCredentialSeconds.value,
};

export function createCoreClient(options: CoreClientOptions): CoreClient {
  const { call, close } = openCoreConnection({
    coreOrigin: options.coreOrigin,
    coreKey: options.coreKey,
    coreHost: options.coreHost,
    certificate: options.linkCertificate,
    proof,
    key: options.nodeKey,
    credential: options.nodeCredential,
    uptime: options.uptime,
  });

  return {
    async register(body, signal) {
      await (await call('POST', '/v1/node/register', { body, signal })).dump();
    },
    async heartbeat(report, milliseconds, signal) {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(milliseconds)]);
      const body = await call('POST', '/v1/node/heartbeat', { body: report, signal: limit, timeout: milliseconds });
      return nodeLease.parse(await body.json());
    },
    async leave(signal) {
      await (await call('POST', '/v1/node/leave', { signal })).dump();
    },
    async assignments(after, signal) {
      const query = after === undefined ? '' : `?after=${encodeURIComponent(after)}`;
      const body = await call('GET', `/v1/node/assignments${query}`, { signal, timeout: LONG_POLL_TIMEOUT });
      return assignments.parse(await body.json());
    },
    async startWorkload(installationId, start) {
      const body = await call('POST', `/v1/node/installations/${installationId}/starts`, { body: start });
      return workloadStart.parse(await body.json());
    },
    async claimImage(installationId, bytes) {
      await (await call('POST', `/v1/node/installations/${installationId}/image`, { body: { bytes } })).dump();
    },
    async validCapabilities(installationId, hashes) {
      const path = `/v1/node/installations/${installationId}/capabilities`;
      const body = await call('POST', path, { body: { hashes }, timeout: QUESTION_TIMEOUT });
      const { items } = validCapabilities.parse(await body.json());
      return new Map(items.map(({ hash, endsInMilliseconds }) => [hash, endsInMilliseconds]));
    },
    async leasesEndIn(installationId) {
      const body = await call('GET', `/v1/node/installations/${installationId}/leases`, {});
      return workloadLeases.parse(await body.json()).endInMilliseconds;
    },
    async status(items, signal) {
      await (await call('POST', '/v1/node/status', { body: { items }, signal })).dump();
    },
    packageBlob: (hash, signal) => call('GET', `/v1/node/packages/${hash}`, { signal }),
    close,
  };
}
