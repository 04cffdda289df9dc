// The connections to the other sides. One pool per core for all Gateways of a process: an idle Gateway holds no socket
// and no pool of its own, and a pool is made at the first request.
import { openPool } from '@platform/http';
import { type LinkCertificate, type LinkTarget, linkConnector, readPublicKey } from '@platform/link';
import { buildConnector, type Pool } from 'undici';
import type { ByteMeter } from './byte-meter.ts';

export interface CoreAddress {
  /** Where core listens, e.g. `http://127.0.0.1:8787`. */
  readonly coreOrigin: string;
  /** `Host` that core expects, e.g. `shell.platform.localhost:8787`. */
  readonly coreHost: string;
  /** The link key core must prove over https, base64url. Default: its certificate must be valid for `coreHost`. */
  readonly coreKey?: string;
  /** What proves this node to a core over https. Default: nothing does. */
  readonly linkCertificate?: LinkCertificate;
  /** Unix socket that leads to core, where its address cannot be reached from here. */
  readonly coreSocket?: string;
}

export interface CorePool {
  /** The shared pool, made at its first use. */
  get(): Pool;
  /** Gives up the claim; the last one closes the pool. */
  release(): Promise<void>;
}

interface Shared {
  pool: Pool | null;
  claims: number;
}

/** Where a connection is made to, whatever name is spoken to. */
export type ConnectTo =
  | { readonly socketPath: string }
  /** `socketPath` leads to `origin`, which is still what has to prove itself. */
  | (LinkTarget & { readonly socketPath?: string });

const shared = new Map<string, Shared>();

const CONNECT_TIMEOUT_MS = 5_000;

/** Claims the pool of one core. */
export function claimCorePool(address: CoreAddress): CorePool {
  const key = `${address.coreOrigin} ${address.coreHost} ${address.coreKey ?? ''} ${address.coreSocket ?? ''} ${address.linkCertificate?.cert ?? ''}`;
  const entry = shared.get(key) ?? { pool: null, claims: 0 };
  shared.set(key, entry);
  entry.claims += 1;
  let released = false;
  return {
    get() {
      entry.pool ??= openCorePool(address);
      return entry.pool;
    },
    async release() {
      if (released) return;
      released = true;
      entry.claims -= 1;
      if (entry.claims > 0) return;
      shared.delete(key);
      await entry.pool?.destroy();
    },
  };
}

function openCorePool({ coreOrigin, coreHost, coreKey, coreSocket, linkCertificate }: CoreAddress): Pool {
  const key = coreKey === undefined ? undefined : readPublicKey(coreKey);
  if (key === null) throw new Error('the key of core is none');
  return openPoolTo(`${new URL(coreOrigin).protocol}//${coreHost}`, {
    origin: coreOrigin,
    key,
    certificate: linkCertificate,
    ...(coreSocket === undefined ? {} : { socketPath: coreSocket }),
  });
}

/** Opens a pool that speaks to `name` at another address. `meter` counts what its connections carry. */
export function openPoolTo(name: string, to: ConnectTo, meter?: ByteMeter): Pool {
  const connect =
    'origin' in to
      ? linkConnector(through(to.socketPath), { ...to, connectTimeout: CONNECT_TIMEOUT_MS })
      : through(to.socketPath)({ timeout: CONNECT_TIMEOUT_MS, allowH2: false });
  return openPool(name, { connect, onConnection: (socket) => meter?.watch(socket) });
}

/** undici's maker of connections, which all lead through one Unix socket if there is one. */
function through(socketPath: string | undefined): typeof buildConnector {
  return socketPath === undefined ? buildConnector : (options) => buildConnector({ ...options, socketPath });
}
