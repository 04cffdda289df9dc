// Restarts the Gateway's container of a workload when it dies, with the same configuration; the workload keeps running.
// If the Gateway cannot be restarted, ends the workload, which nothing could reach.
import type { SidecarGateway } from '../../gateway-port.ts';
import type { Cell } from './cells.ts';
import { engineMessage } from './engine.ts';
import { awaitExit } from './exit-watch.ts';

export interface GatewayWatch {
  /** The Gateway may end now. */
  stop(): void;
}

const ATTEMPTS = 5;

export function watchGateway(
  cell: Cell,
  gateway: SidecarGateway,
  { cut, ...hooks }: { readonly cut: AbortSignal; restarted(): void; lost(reason: string): void },
): GatewayWatch {
  let watching = true;
  void watch().catch((error: unknown) => {
    if (watching) hooks.lost(engineMessage(error));
  });

  async function watch(): Promise<void> {
    for (;;) {
      await awaitExit(cell.gateway, { cut });
      if (!watching || cut.aborted) return;
      await again();
      if (watching) hooks.restarted();
    }
  }

  async function again(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await cell.gateway.start();
        await gateway.reconnect();
        return;
      } catch (error) {
        if (attempt === ATTEMPTS || !watching) throw error;
      }
    }
  }

  return {
    stop() {
      watching = false;
    },
  };
}
