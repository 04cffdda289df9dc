// The public UDP ports of one running workload, whatever runs it: each by a relay into the workload's own network.
import { isDeepStrictEqual } from 'node:util';
import type { Log } from '../clock.ts';
import type { UdpBinding } from '../drivers/driver.ts';
import { errorCode } from '../error-code.ts';
import { findProgram } from '../find-program.ts';
import { type Enter, makeSocketsIn } from './namespace-sockets.ts';
import { openUdpRelay, type UdpRelay } from './udp-relay.ts';

export interface UdpPublisherOptions {
  readonly installationId: string;
  /**
   * Descriptor in this process that leads to the workload's network and stays open until `close`. Asked before a port
   * opens. A string says why there is none, in a sentence.
   */
  namespace(): Promise<number | string>;
  /** How to run a program in that network where the Runtime is not root; undefined where it has no right to. */
  enter?(): Enter | undefined;
  /** Addresses in that network: of the relay, and of the workload. Default: both on its loopback. */
  readonly addresses?: { readonly relay: string; readonly workload: string };
  readonly log: Log;
}

export interface UdpPublisher {
  /** As `WorkloadInstance.publishUdp`. */
  publish(bindings: readonly UdpBinding[]): Promise<ReadonlyMap<string, string>>;
  /** Nothing passes any more when this returns, and nothing is opened any more. */
  close(): void;
}

const LOOPBACK = { relay: '127.0.0.1', workload: '127.0.0.1' } as const;

export function createUdpPublisher(options: UdpPublisherOptions): UdpPublisher {
  const { installationId, namespace, addresses = LOOPBACK, log } = options;
  /** What is open, by name. */
  const relays = new Map<string, { readonly binding: UdpBinding; readonly relay: UdpRelay }>();
  let closed = false;

  function closeAllBut(wanted: readonly UdpBinding[]): void {
    for (const [name, { binding, relay }] of relays) {
      if (wanted.some((one) => isDeepStrictEqual(one, binding))) continue;
      relay.close();
      relays.delete(name);
    }
  }

  /** Why the port cannot be published, or undefined when it is. */
  async function open(binding: UdpBinding): Promise<string | undefined> {
    const nsenter = findProgram('nsenter');
    const isRoot = process.getuid?.() === 0;
    const fromOutside = options.enter?.();
    if (nsenter === undefined || (!isRoot && fromOutside === undefined))
      return 'To publish it, the platform must run as root or in user namespaces, with nsenter installed.';
    const place = await namespace();
    if (typeof place === 'string') return place;
    const asRoot: Enter = (command) => [nsenter, `--net=/proc/${process.pid}/fd/${place}`, '--', ...command];
    const enter = fromOutside ?? asRoot;
    try {
      const relay = await openUdpRelay({
        address: binding.hostAddress,
        hostPort: binding.hostPort,
        containerAddress: addresses.workload,
        containerPort: binding.containerPort,
        makeSockets: (count) => makeSocketsIn(enter, addresses.relay, count),
      });
      // The workload may have ended meanwhile.
      if (closed) relay.close();
      else relays.set(binding.name, { binding, relay });
      return undefined;
    } catch (error) {
      log.error({ installationId, port: binding.hostPort, err: error }, 'a UDP port could not be published');
      const here = `Port ${binding.hostPort} of this machine`;
      return errorCode(error) === 'EADDRINUSE'
        ? `${here} is taken by another program. The platform tries again when the backend next starts.`
        : `${here} cannot be opened; see the platform’s log.`;
    }
  }

  return {
    async publish(bindings) {
      closeAllBut(bindings);
      const failed = new Map<string, string>();
      for (const binding of bindings) {
        if (closed || relays.has(binding.name)) continue;
        const why = await open(binding);
        if (why !== undefined) failed.set(binding.name, why);
      }
      return failed;
    },
    close() {
      closed = true;
      closeAllBut([]);
    },
  };
}
