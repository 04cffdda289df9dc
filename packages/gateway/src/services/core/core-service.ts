// The platform services that core answers itself: the request goes on as it came, under the installation's core
// service credential instead of the workload's (specification 5.3).
import type { IncomingMessage } from 'node:http';
import { limits, routes } from '@platform/contract';
import { carry, responseFilter } from '@platform/http';
import { claimCorePool } from '../../upstream-pools.ts';
import type { GatewayService, ServiceContext } from '../service.ts';

/** Core speaks to the Gateway's credential, so its challenges and cookies end here. */
const DROPPED = new Set(['set-cookie', 'set-cookie2', 'www-authenticate', 'authentication-info', 'alt-svc']);
const filterResponse = responseFilter((name) => DROPPED.has(name));

const WEB_SEARCH = routes['services.webSearch'].path;
/** Core asks the person first, and the search engine then. */
const ASKS_MILLISECONDS = (limits.webSearchConsentSeconds.value + limits.webSearchSeconds.value + 15) * 1_000;

export function coreService(context: ServiceContext): GatewayService {
  const { headersTimeout, onFailure } = context;
  const pool = claimCorePool(context);
  const identity = ['authorization', `Bearer ${context.coreServiceCredential}`];
  return {
    prefixes: ['/v1/services/'],
    handle: (incoming) =>
      carry(incoming, {
        upstream: {
          name: 'core',
          dispatcher: pool.get(),
          path: incoming.path + incoming.query,
          headers: identity.concat(incoming.head.forwarded, toolChainOf(incoming.req)),
          filterResponse,
          headersTimeout: incoming.path === WEB_SEARCH ? Math.max(ASKS_MILLISECONDS, headersTimeout) : headersTimeout,
          onFailure,
        },
      }),
    close: () => pool.release(),
  };
}

const TOOL_CHAIN = 'platform-tool-chain';

/** What the backend got with the tool call in the middle of which it calls; core alone reads it, and it is its own signature. */
function toolChainOf({ headersDistinct }: IncomingMessage): string[] {
  const [chain, ...more] = headersDistinct[TOOL_CHAIN] ?? [];
  return chain === undefined || more.length > 0 ? [] : [TOOL_CHAIN, chain];
}
