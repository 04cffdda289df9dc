// The Runtime's side of its conversation with core: assignments, workload starts, packages, status.
import type { Readable } from 'node:stream';
import {
  type Assignments,
  assignments,
  type InstallationStatus,
  type NodeHeartbeat,
  type NodeLease,
  nodeLease,
  plainLine,
  type registerNodeBody,
  type WorkloadStart,
  workloadLeases,
  workloadStart,
} from '@platform/contract';
import { type LinkCertificate, type LinkKey, linkConnector } from '@platform/link';
import { buildConnector, Pool } from 'undici';
import * as z from 'zod';
import { openCredentials } from './node-credentials.ts';

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
  /** Waits up to 25 s on core's side for a revision other than `after`. */
  assignments(after: string | undefined, signal: AbortSignal): Promise<Assignments>;
  /**
   * New credentials for one workload start; the former ones end.
   * @param envelopeKey for which core seals secrets from now on
   */
  startWorkload(installationId: string, envelopeKey: string): Promise<WorkloadStart>;
  /** Milliseconds until the last work lease of an installation ends, negative when it has; null without one. */
  leasesEndIn(installationId: string): Promise<number | null>;
  status(items: readonly InstallationStatus[], signal: AbortSignal): Promise<void>;
  /** The package as it was published; the caller checks the hash. */
  packageBlob(hash: string, signal: AbortSignal): Promise<Readable>;
  close(): Promise<void>;
}

/** Core answered with something else than success. Holds the status, the stable code and core's sentence for people. */
export class CoreError extends Error {
  readonly status: number;
  constructor(status: number, { code, detail }: { readonly code: string; readonly detail?: string | undefined }) {
    super(`core answered ${status} ${code}${detail === undefined ? '' : `: ${detail}`}`);
    this.name = 'CoreError';
    this.status = status;
  }
}

const LONG_POLL_TIMEOUT = 40_000;
const ORDINARY_TIMEOUT = 10_000;
const CONNECTIONS = 8;
const LARGEST_ERROR = 64 * 1024;

interface CallOptions {
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  readonly timeout?: number;
}

export function createCoreClient(options: CoreClientOptions): CoreClient {
  const { protocol } = new URL(options.coreOrigin);
  const pool = new Pool(`${protocol}//${options.coreHost}`, {
    connections: CONNECTIONS,
    pipelining: 1,
    connect: linkConnector(buildConnector, {
      origin: options.coreOrigin,
      key: options.coreKey,
      certificate: options.linkCertificate,
    }),
  });
  const credentials = openCredentials({
    key: options.nodeKey,
    coreHost: options.coreHost,
    initial: options.nodeCredential,
    uptime: options.uptime,
    async call(path, body) {
      const response = await send('POST', path, {}, { body });
      return { status: response.statusCode, body: await response.body.json() };
    },
  });

  function send(method: 'GET' | 'POST', path: string, headers: Readonly<Record<string, string>>, more: CallOptions) {
    const timeout = more.timeout ?? ORDINARY_TIMEOUT;
    return pool.request({
      method,
      path,
      headers: {
        host: options.coreHost,
        ...headers,
        ...(more.body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(more.body === undefined ? {} : { body: JSON.stringify(more.body) }),
      ...(more.signal === undefined ? {} : { signal: more.signal }),
      headersTimeout: timeout,
      bodyTimeout: timeout,
    });
  }

  async function call(method: 'GET' | 'POST', path: string, more: CallOptions) {
    const credential = await credentials.current();
    let response = await send(method, path, { authorization: `Bearer ${credential}` }, more);
    if (response.statusCode === 401 && options.nodeKey !== undefined) {
      await response.body.dump();
      // It ended: another renewal came between, or core came back with an older database.
      const next = await credentials.after(credential);
      response = await send(method, path, { authorization: `Bearer ${next}` }, more);
    }
    if (response.statusCode >= 200 && response.statusCode < 300) return response.body;
    throw new CoreError(response.statusCode, await problemOf(response.body));
  }

  return {
    async register(body, signal) {
      await (await call('POST', '/v1/node/register', { body, signal })).dump();
    },
    async heartbeat(report, milliseconds, signal) {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(milliseconds)]);
      const body = await call('POST', '/v1/node/heartbeat', { body: report, signal: limit, timeout: milliseconds });
      return nodeLease.parse(await body.json());
    },
    async assignments(after, signal) {
      const query = after === undefined ? '' : `?after=${encodeURIComponent(after)}`;
      const body = await call('GET', `/v1/node/assignments${query}`, { signal, timeout: LONG_POLL_TIMEOUT });
      return assignments.parse(await body.json());
    },
    async startWorkload(installationId, envelopeKey) {
      const body = await call('POST', `/v1/node/installations/${installationId}/starts`, { body: { envelopeKey } });
      return workloadStart.parse(await body.json());
    },
    async leasesEndIn(installationId) {
      const body = await call('GET', `/v1/node/installations/${installationId}/leases`, {});
      return workloadLeases.parse(await body.json()).endInMilliseconds;
    },
    async status(items, signal) {
      await (await call('POST', '/v1/node/status', { body: { items }, signal })).dump();
    },
    packageBlob: (hash, signal) => call('GET', `/v1/node/packages/${hash}`, { signal }),
    close: () => pool.destroy(),
  };
}

const problem = z.object({
  code: z.string(),
  detail: z
    .string()
    .overwrite((text) => plainLine(text, 500))
    .optional(),
});

async function problemOf(body: { text(): Promise<string> } & Readable): Promise<z.output<typeof problem>> {
  const none = { code: '' };
  if (Number(body.readableLength) > LARGEST_ERROR) return none;
  try {
    return problem.safeParse(JSON.parse(await body.text())).data ?? none;
  } catch {
    // not a problem document; the status says enough
    return none;
  }
}
