// The services behind a Gateway and which paths each one takes. Adding one: its folder, and one line in `services`.
import type { GatewayPolicy } from '@platform/contract';
import { coreService } from './core/core-service.ts';
import { intelligenceService } from './intelligence/intelligence-service.ts';
import { outboundService } from './outbound/outbound-service.ts';
import type { GatewayService, ServiceContext } from './service.ts';

export type OpenService = (context: ServiceContext) => GatewayService;

const services: readonly OpenService[] = [coreService, intelligenceService, outboundService];

export interface ServiceRegistry {
  find(path: string): GatewayService | null;
  apply(policy: GatewayPolicy): Promise<void>;
  close(): Promise<void>;
}

/** @param opening Default: the services of the platform. */
export function openServices(context: ServiceContext, opening: readonly OpenService[] = services): ServiceRegistry {
  const opened = opening.map((open) => open(context));
  const byPrefix = opened
    .flatMap((service) => service.prefixes.map((prefix) => ({ prefix, service })))
    .sort((left, right) => right.prefix.length - left.prefix.length);
  return {
    find: (path) => byPrefix.find(({ prefix }) => path.startsWith(prefix))?.service ?? null,
    async apply(policy) {
      await Promise.all(opened.map((service) => service.apply?.(policy)));
    },
    async close() {
      await Promise.all(opened.map((service) => service.close()));
    },
  };
}
