// The connections to providers: a pool for each origin, made at its first call.
import { openDialingPool } from '@platform/http';
import type { Pool } from 'undici';
import type { ServiceContext } from '../service.ts';

export interface ProviderPools {
  poolFor(origin: string): Pool;
  /** Breaks off what is under way. */
  close(): Promise<void>;
}

export function openProviderPools({ dialer, outbound }: Pick<ServiceContext, 'dialer' | 'outbound'>): ProviderPools {
  const pools = new Map<string, Pool>();
  return {
    poolFor(origin) {
      const known = pools.get(origin);
      if (known !== undefined) return known;
      // The operator wrote the origin, so it may be on a private address.
      const pool = openDialingPool(origin, { dialer, allow: [origin], ca: outbound.ca ?? undefined });
      pools.set(origin, pool);
      return pool;
    },
    async close() {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()));
    },
  };
}
