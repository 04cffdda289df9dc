// The services behind a Gateway and which paths each one takes. Adding one: its folder, and one line in `services`.
import { coreService } from './core/core-service.ts';
import type { GatewayService, ServiceContext } from './service.ts';

const services: readonly ((context: ServiceContext) => GatewayService)[] = [coreService];

export interface ServiceRegistry {
  find(path: string): GatewayService | null;
  close(): Promise<void>;
}

export function openServices(context: ServiceContext, opening = services): ServiceRegistry {
  const opened = opening.map((open) => open(context));
  const byPrefix = opened
    .flatMap((service) => service.prefixes.map((prefix) => ({ prefix, service })))
    .sort((left, right) => right.prefix.length - left.prefix.length);
  return {
    find: (path) => byPrefix.find(({ prefix }) => path.startsWith(prefix))?.service ?? null,
    async close() {
      await Promise.all(opened.map((service) => service.close()));
    },
  };
}
