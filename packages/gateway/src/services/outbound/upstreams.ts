// The connections to outside services: a pool for each slot and origin, never shared with another slot or installation.
// Their addresses are checked when they are made, and the connection goes to the address that was checked.
import { openDialingPool } from '@platform/http';
import type { Pool } from 'undici';
import type { ServiceContext } from '../service.ts';

export interface Upstreams {
  get(slot: string, origin: string): Pool;
  /** Breaks off what is under way. */
  close(): Promise<void>;
}

/** Those of one Gateway. */
export function openUpstreams({ dialer, outbound }: Pick<ServiceContext, 'dialer' | 'outbound'>): Upstreams {
  const pools = new Map<string, Pool>();
  return {
    get(slot, origin) {
      const key = `${slot} ${origin}`;
      const known = pools.get(key);
      if (known !== undefined) return known;
      const pool = openDialingPool(origin, { dialer, allow: outbound.privateOrigins, ca: outbound.ca ?? undefined });
      pools.set(key, pool);
      return pool;
    },
    async close() {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()));
      pools.clear();
    },
  };
}
