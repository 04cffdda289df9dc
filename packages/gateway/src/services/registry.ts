// The services behind a Gateway and which paths each one takes. Adding one: its folder, and one line in `services`.

import type { UpstreamFailure } from '../forward.ts';
import type { Abandonable, IncomingRequest } from '../listener.ts';
import type { CoreAddress } from '../upstream-pools.ts';
import { coreService } from './core/core-service.ts';

/** What a service may use of its Gateway. */
export interface ServiceContext extends CoreAddress {
  readonly coreServiceCredential: string;
  readonly headersTimeout: number;
  readonly onFailure: (failure: UpstreamFailure) => void;
}

/** One service of the Gateway. The caller is authenticated and its path is safe when `handle` sees it. */
export interface GatewayService {
  /** Paths that start with this are its own; the longest prefix wins. Ends with `/`. */
  readonly prefix: string;
  /** `null` when the request has been answered already. */
  handle(incoming: IncomingRequest): Abandonable | null;
  close(): Promise<void>;
}

const services: readonly ((context: ServiceContext) => GatewayService)[] = [coreService];

export interface ServiceRegistry {
  find(path: string): GatewayService | null;
  close(): Promise<void>;
}

export function openServices(context: ServiceContext): ServiceRegistry {
  const opened = services.map((open) => open(context)).sort((left, right) => right.prefix.length - left.prefix.length);
  return {
    find: (path) => opened.find((service) => path.startsWith(service.prefix)) ?? null,
    async close() {
      await Promise.all(opened.map((service) => service.close()));
    },
  };
}
