// The Runtime's side of its conversation with core: assignments, workload starts, packages, status.
import type { Readable } from 'node:stream';
import {
  type Assignments,
  assignments,
  type InstallationStatus,
  type WorkloadStart,
  workloadLeases,
  workloadStart,
} from '@platform/contract';
import { Pool } from 'undici';

export interface CoreClientOptions {
  /** Where core listens, e.g. `http://127.0.0.1:8787`. */
  readonly coreOrigin: string;
  /** Value of the Host header, e.g. `shell.platform.localhost:8787`. */
  readonly coreHost: string;
  /** `pnd_…` */
  readonly nodeCredential: string;
}

export interface CoreClient {
  register(
    body: { controlUrl: string; controlCredential: string; inboundOrigin: string },
    signal: AbortSignal,
  ): Promise<void>;
  /** Waits up to 25 s on core's side for a revision other than `after`. */
  assignments(after: string | undefined, signal: AbortSignal): Promise<Assignments>;
  /** New credentials for one workload start; the former ones end. */
  startWorkload(installationId: string): Promise<WorkloadStart>;
  /** Milliseconds until the last work lease of an installation ends, negative when it has; null without one. */
  leasesEndIn(installationId: string): Promise<number | null>;
  status(items: readonly InstallationStatus[], signal: AbortSignal): Promise<void>;
  /** The package as it was published; the caller checks the hash. */
  packageBlob(hash: string, signal: AbortSignal): Promise<Readable>;
  close(): Promise<void>;
}

/** Core answered with something else than success. Holds the status and the stable code, never a credential. */
export class CoreError extends Error {
  readonly status: number;
  constructor(status: number, code: string) {
    super(`core answered ${status} ${code}`);
    this.name = 'CoreError';
    this.status = status;
  }
}

const LONG_POLL_TIMEOUT = 40_000;
const ORDINARY_TIMEOUT = 10_000;
const CONNECTIONS = 8;
const LARGEST_ERROR = 64 * 1024;

export function createCoreClient(options: CoreClientOptions): CoreClient {
  const pool = new Pool(options.coreOrigin, { connections: CONNECTIONS, pipelining: 1 });
  const headers = { host: options.coreHost, authorization: `Bearer ${options.nodeCredential}` };

  async function call(
    method: 'GET' | 'POST',
    path: string,
    more: { body?: unknown; signal?: AbortSignal; timeout?: number },
  ) {
    const timeout = more.timeout ?? ORDINARY_TIMEOUT;
    const response = await pool.request({
      method,
      path,
      headers: more.body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
      ...(more.body === undefined ? {} : { body: JSON.stringify(more.body) }),
      ...(more.signal === undefined ? {} : { signal: more.signal }),
      headersTimeout: timeout,
      bodyTimeout: timeout,
    });
    if (response.statusCode >= 200 && response.statusCode < 300) return response.body;
    throw new CoreError(response.statusCode, await problemCode(response.body));
  }

  return {
    async register(body, signal) {
      await (await call('POST', '/v1/node/register', { body, signal })).dump();
    },
    async assignments(after, signal) {
      const query = after === undefined ? '' : `?after=${encodeURIComponent(after)}`;
      const body = await call('GET', `/v1/node/assignments${query}`, { signal, timeout: LONG_POLL_TIMEOUT });
      return assignments.parse(await body.json());
    },
    async startWorkload(installationId) {
      const body = await call('POST', `/v1/node/installations/${installationId}/starts`, {});
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

async function problemCode(body: { text(): Promise<string> } & Readable): Promise<string> {
  if (Number(body.readableLength) > LARGEST_ERROR) return '';
  try {
    const problem: unknown = JSON.parse(await body.text());
    if (typeof problem === 'object' && problem !== null && 'code' in problem) return String(problem.code);
  } catch {
    // not a problem document; the status says enough
  }
  return '';
}
