// The Gateway of an installed app in a process of its own, which a test can kill; it listens on the same port again.
import { fileURLToPath } from 'node:url';
import type { GatewayPlace } from './app-gateway.ts';
import { type Child, startChild } from './child.ts';

const MAIN = fileURLToPath(new URL('./gateway-process-main.ts', import.meta.url));

/** Resolves when it listens; it ends with this process at the latest. */
export async function startGatewayProcess(place: GatewayPlace & { readonly listenPort: number }): Promise<Child> {
  const listening = Promise.withResolvers<void>();
  const child = startChild(MAIN, { onLine: () => listening.resolve() });
  child.send(place);
  await Promise.race([
    listening.promise,
    child.exited.then((how) => Promise.reject(new Error(`a Gateway ended at its start (${how})`))),
  ]);
  return child;
}
