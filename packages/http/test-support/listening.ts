// Strict servers for tests of what they answer on a connection.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { afterEach } from 'node:test';
import { createStrictServer, type IncomingRequest, type StrictServerOptions } from '../src/server.ts';
import { portOf } from './port-of.ts';
import type { RawConnection } from './raw-exchange.ts';

const servers: Server[] = [];
const faults: unknown[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
  assert.deepEqual(faults.splice(0), []);
});

/** A strict server on a port of its own, closed after the test. A fault of it fails the test. */
export async function opened(options: Omit<StrictServerOptions, 'onFault'>): Promise<Server> {
  const server = createStrictServer({ ...options, onFault: (error) => faults.push(error) });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** One for the host `a`, unless the options say otherwise. @returns its port */
export async function listening(
  onRequest: (incoming: IncomingRequest) => unknown,
  options: Partial<StrictServerOptions> = {},
): Promise<number> {
  const server = await opened({
    isOwnHost: (host) => host === 'a',
    onRequest: (incoming) => {
      onRequest(incoming);
      return null;
    },
    ...options,
  });
  return portOf(server);
}

export const statuses = (connection: RawConnection): number[] => connection.answers().map(({ status }) => status);

/** A handler that holds each request until the test lets it go. */
export function holding() {
  const held: IncomingRequest[] = [];
  const arrivals: (() => void)[] = [];
  return {
    held,
    hold(incoming: IncomingRequest): void {
      held.push(incoming);
      for (const arrived of arrivals.splice(0)) arrived();
    },
    async count(wanted: number): Promise<void> {
      while (held.length < wanted) await new Promise<void>((resolve) => arrivals.push(resolve));
    },
  };
}
