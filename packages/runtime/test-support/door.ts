// A way in to a workload without the node listener's checks, for tests of what lies behind them.
import type { Server } from 'node:http';
import { createStrictServer } from '@platform/http';
import type { RunningGateway } from '../src/gateway-port.ts';

/** A server, not yet listening, that brings every request to the workload. */
export function openDoor(gateway: Pick<RunningGateway, 'forwardInbound' | 'forwardUpgrade'>): Server {
  return createStrictServer({
    isOwnHost: () => true,
    onRequest: (incoming) => void gateway.forwardInbound(incoming, incoming.path + incoming.query),
    onUpgrade: (incoming) => gateway.forwardUpgrade(incoming, incoming.path + incoming.query),
    onFault: (error) => {
      throw error;
    },
  });
}

/** The same for public requests, without the checks of the public side. */
export function openPublicDoor(gateway: Pick<RunningGateway, 'forwardPublic' | 'forwardPublicUpgrade'>): Server {
  return createStrictServer({
    isOwnHost: () => true,
    onRequest: (incoming) => void gateway.forwardPublic(incoming),
    onUpgrade: (incoming) => gateway.forwardPublicUpgrade(incoming),
    onFault: (error) => {
      throw error;
    },
  });
}
