// The store behind this service, as core names it: where it is, what part of it is this installation's, and the key that
// only this Gateway can read. Kept until a later policy may have changed it, and for a few minutes at most.
import { storeOfInstallation } from '@platform/contract';
import { type DialingConnectorOptions, openDialingPool } from '@platform/http';
import { type StorePlace, storeOrigin } from '@platform/http/s3';
import type { Pool } from 'undici';
import * as z from 'zod';
import { type CoreCalls, openCoreCalls } from '../core-calls.ts';
import type { ServiceContext } from '../service.ts';
import { KeySpace } from './keys.ts';

const credentialsShape = z.object({
  accessKeyId: z.string(),
  secretAccessKey: z.string(),
  sessionToken: z.string().optional(),
});

export interface Store extends StorePlace {
  readonly keys: KeySpace;
}

export interface StoreAccess {
  /** @throws CoreRefusal */
  current(): Promise<Store>;
  /** Asks core anew for the next request. Those under way go on. */
  forget(): void;
  close(): Promise<void>;
}

/** For a store whose credentials are replaced, and for a policy that core could not announce. */
const KEPT_MS = 60_000;

export function openStoreAccess(context: ServiceContext): StoreAccess {
  const core = openCoreCalls(context);
  let kept: { readonly store: Promise<Store>; readonly until: number } | null = null;
  const pools = new Map<string, Pool>();
  const poolTo = (origin: URL): Pool => {
    const former = pools.get(origin.origin);
    if (former !== undefined) return former;
    const allow: DialingConnectorOptions['allow'] = [origin.origin];
    const ca = context.outbound.ca ?? undefined;
    const pool = openDialingPool(origin.origin, { dialer: context.dialer, allow, ca });
    pools.set(origin.origin, pool);
    return pool;
  };
  const closePools = async (): Promise<void> => {
    const closing = [...pools.values()];
    pools.clear();
    await Promise.all(closing.map((pool) => pool.destroy()));
  };
  return {
    current() {
      if (kept !== null && performance.now() < kept.until) return kept.store;
      const store = authorize(context, core, poolTo);
      const mine = { store, until: performance.now() + KEPT_MS };
      kept = mine;
      store.catch(() => {
        if (kept === mine) kept = null;
      });
      return store;
    },
    forget() {
      kept = null;
    },
    async close() {
      kept = null;
      await Promise.all([core.close(), closePools()]);
    },
  };
}

async function authorize(context: ServiceContext, core: CoreCalls, poolTo: (origin: URL) => Pool): Promise<Store> {
  const answer = await core.post('/v1/gateway/object-storage/authorize', {}, storeOfInstallation);
  const { endpoint, region, bucket, pathStyle, prefix, envelope } = answer;
  const plain = await context.envelopes.open(
    {
      purpose: 'object-storage',
      installationId: context.installationId,
      bound: [endpoint, region, bucket, prefix],
    },
    envelope,
  );
  const credentials = credentialsShape.parse(JSON.parse(plain.toString('utf8')));
  plain.fill(0);
  const origin = storeOrigin(answer);
  return { origin, region, bucket, pathStyle, keys: new KeySpace(prefix), credentials, pool: poolTo(origin) };
}
