// What a part on its own (a node, an Ingress) calls core with: a pool of connections that are known by their keys, the
// part's credential on every request, renewed when core refuses it.
import type { Readable } from 'node:stream';
import { nodeRefusal } from '@platform/contract';
import { buildConnector, type Dispatcher, Pool } from 'undici';
import type { LinkCertificate } from './carriers/tls/certificate.ts';
import { linkConnector } from './connect.ts';
import { openCredentials, type Proof } from './credentials.ts';
import type { LinkKey } from './key.ts';

export interface CoreConnectionOptions {
  /** Where core listens, e.g. `http://127.0.0.1:8787`. */
  readonly coreOrigin: string;
  /** The key that core must prove over https; without it its certificate must be valid for `coreHost`. */
  readonly coreKey?: Buffer | undefined;
  /** Value of the Host header, e.g. `shell.platform.localhost:8787`. */
  readonly coreHost: string;
  /** What proves this part to core over https. */
  readonly certificate?: LinkCertificate | undefined;
  readonly proof: Proof;
  /** Renews the credential. Without it the given one is the only one. */
  readonly key: LinkKey | undefined;
  /** The first credential. Default: got by a proof with the key. */
  readonly credential?: string | undefined;
  /** Milliseconds since some moment, going on while the machine sleeps. */
  readonly uptime: () => number;
}

export interface CoreCall {
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  /** Milliseconds to the head of the answer, and between two pieces of its body. Default 10,000. */
  readonly timeout?: number;
}

export interface CoreConnection {
  /**
   * @returns the body of a success
   * @throws CoreError for any other status; RemovedError where core does not know the key; Error where it is not reached
   */
  call(method: 'GET' | 'POST', path: string, options: CoreCall): Promise<Dispatcher.ResponseData['body']>;
  close(): Promise<void>;
}

/** Core answered with something else than success. Holds the status, the stable code and core's sentence for people. */
export class CoreError extends Error {
  readonly status: number;
  readonly code: string;
  /** A sentence for a person, where core gave one. */
  readonly detail: string | undefined;
  constructor(status: number, { code, detail }: { readonly code: string; readonly detail?: string | undefined }) {
    super(`core answered ${status} ${code}${detail === undefined ? '' : `: ${detail}`}`);
    this.name = 'CoreError';
    this.status = status;
    this.code = code;
    this.detail = detail;
  }
}

const ORDINARY_TIMEOUT = 10_000;
const CONNECTIONS = 8;
const LARGEST_ERROR = 64 * 1024;

/** Connections of a node or an Ingress to core, with a credential that is renewed in time. */
export function openCoreConnection(options: CoreConnectionOptions): CoreConnection {
  const { coreHost, coreOrigin, coreKey, certificate, proof, key, credential, uptime } = options;
  const pool = new Pool(`${new URL(coreOrigin).protocol}//${coreHost}`, {
    connections: CONNECTIONS,
    pipelining: 1,
    connect: linkConnector(buildConnector, { origin: coreOrigin, key: coreKey, certificate }),
  });
  const credentials = openCredentials({
    proof,
    key,
    coreHost,
    initial: credential,
    uptime,
    async call(path, body) {
      const response = await send('POST', path, {}, { body });
      return { status: response.statusCode, body: await response.body.json() };
    },
  });

  function send(method: 'GET' | 'POST', path: string, headers: Readonly<Record<string, string>>, more: CoreCall) {
    const timeout = more.timeout ?? ORDINARY_TIMEOUT;
    return pool.request({
      method,
      path,
      headers: {
        host: coreHost,
        ...headers,
        ...(more.body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(more.body === undefined ? {} : { body: JSON.stringify(more.body) }),
      ...(more.signal === undefined ? {} : { signal: more.signal }),
      headersTimeout: timeout,
      bodyTimeout: timeout,
    });
  }

  return {
    async call(method, path, more) {
      const current = await credentials.current();
      let response = await send(method, path, { authorization: `Bearer ${current}` }, more);
      if (response.statusCode === 401 && key !== undefined) {
        await response.body.dump();
        // It ended: another renewal came between, or core came back with an older database.
        const next = await credentials.after(current);
        response = await send(method, path, { authorization: `Bearer ${next}` }, more);
      }
      if (response.statusCode >= 200 && response.statusCode < 300) return response.body;
      throw new CoreError(response.statusCode, await problemOf(response.body));
    },
    close: () => pool.destroy(),
  };
}

async function problemOf(body: { text(): Promise<string> } & Readable): Promise<{ code: string; detail?: string }> {
  const none = { code: '' };
  if (Number(body.readableLength) > LARGEST_ERROR) return none;
  try {
    const { data } = nodeRefusal.safeParse(JSON.parse(await body.text()));
    if (data === undefined) return none;
    return { code: data.code, ...(data.detail === undefined ? {} : { detail: data.detail }) };
  } catch {
    // not a problem document; the status says enough
    return none;
  }
}
