// The network of a running container beyond its Gateway. For network.public the driver attaches and detaches a separate
// bridge live, and packet rules restrict it to publicly routable IPv4 addresses. Two containers never share a bridge,
// because no rule sees traffic between its members. The Runtime relays UDP ports, bypassing the engine.
import { closeSync, writeFileSync } from 'node:fs';
import { createUdpPublisher } from '../../network/udp-publisher.ts';
import type { NetworkPolicy, WorkloadInstance } from '../driver.ts';
import { resolverText } from '../process/resolver-file.ts';
import { makeBridge, publicName, removeNetwork } from './bridges.ts';
import type { Cell } from './cells.ts';
import type { DockerNode } from './docker-driver.ts';
import { type Container, engineMessage, removed } from './engine.ts';
import { depthOf, openNetworkOf } from './network-namespace.ts';
import { moveInterfaces } from './tunnel/move-interfaces.ts';
import { noTunnel } from './tunnel/tunnel-files.ts';

export interface PublicAccess extends Pick<WorkloadInstance, 'applyNetworkPolicy' | 'publishUdp' | 'shortfalls'> {
  /** Puts the first policy into effect. */
  begin(policy: NetworkPolicy): Promise<void>;
  /** Cuts it off from what an earlier Runtime connected it to. */
  takeAway(): Promise<void>;
  /** Takes everything away, after the container's end. */
  close(): Promise<void>;
}

export interface PublicAccessParts {
  readonly node: DockerNode;
  readonly installationId: string;
  readonly cell: Cell;
  readonly container: Container;
  /** Whether the container was created with a tunnel. */
  readonly hasTunnel: boolean;
}

export function createPublicAccess({
  node,
  installationId,
  cell,
  container,
  hasTunnel,
}: PublicAccessParts): PublicAccess {
  const bridge = node.firewall.bridgeName('public', cell.id);
  let policy: NetworkPolicy = { public: false, tunnel: hasTunnel };
  /** Opened with the first UDP port. */
  let network: number | undefined;
  const udp = createUdpPublisher({ installationId, namespace, log: node.log });
  /** Why the internet is granted and not there. */
  let missing: string | undefined;
  /** Address that rules let through. */
  let address: string | undefined;

  async function grant(): Promise<void> {
    missing = undefined;
    try {
      const block = await makeBridge(node, 'public', cell.id);
      // The second address of the block, as that of the Gateway is in a restricted one: here it is the workload's.
      address = block.gateway;
      await node.firewall.letOut(bridge, address);
      const EndpointConfig = { IPAMConfig: { IPv4Address: address } };
      await node.engine
        .getNetwork(publicName(node.owner, cell.id))
        .connect({ Container: container.id, EndpointConfig });
      if (hasTunnel) await moveInterfaces(container, node.firewall);
      writeFileSync(cell.nameServers, resolverText(node.dns));
    } catch (error) {
      node.log.error(
        { cell: cell.id, reason: engineMessage(error) },
        'a container could not be connected to the internet',
      );
      missing = 'the platform could not set it up; see the platform’s log.';
      await revoke();
    }
  }

  /** Either of the two is enough: without the rule nothing passes, without the bridge there is no way. */
  async function revoke(): Promise<void> {
    writeFileSync(cell.nameServers, resolverText([]));
    const [ruled, cut] = await Promise.allSettled([
      address === undefined ? undefined : node.firewall.keepIn(bridge, address),
      takeAway(),
    ]);
    if (ruled.status === 'rejected' && cut.status === 'rejected') throw ruled.reason;
    address = undefined;
  }

  async function takeAway(): Promise<void> {
    const network = node.engine.getNetwork(publicName(node.owner, cell.id));
    // The engine does not find the interface where it put it.
    if (hasTunnel) await node.firewall.unplug(bridge);
    // What cannot be cut off now is when its network is removed, which fails otherwise.
    await removed(network.disconnect({ Container: container.id, Force: true })).catch(() => undefined);
    await removeNetwork(node.engine, publicName(node.owner, cell.id));
  }

  async function namespace(): Promise<number | string> {
    try {
      network ??= await openNetworkOf(container, depthOf(hasTunnel));
      return network;
    } catch (error) {
      node.log.error({ installationId, reason: engineMessage(error) }, 'the network of a container was not found');
      return 'The backend’s network was not found; see the platform’s log.';
    }
  }

  return {
    takeAway,
    async begin(first) {
      policy = first;
      if (first.public) await grant();
    },
    async applyNetworkPolicy(next) {
      const former = policy;
      policy = next;
      if (next.public && !former.public) await grant();
      if (!next.public && former.public) await revoke();
      // A running workload keeps its capability.
      if (hasTunnel && !next.tunnel) throw new Error('The tunnel of a running container cannot be revoked.');
    },
    publishUdp: udp.publish,
    shortfalls: () => [
      ...(missing === undefined || !policy.public ? [] : [`Internet access is granted, but not available: ${missing}`]),
      ...(policy.tunnel && !hasTunnel ? [tunnelShortfall(noTunnel())] : []),
    ],
    async close() {
      udp.close();
      if (network !== undefined) closeSync(network);
      network = undefined;
      if (address === undefined) return;
      await revoke().catch((error: unknown) => {
        // Its container has ended, and no other will ever be on a bridge of this name.
        node.log.warn({ cell: cell.id, reason: engineMessage(error) }, 'a public network could not be removed yet');
      });
    },
  };
}

function tunnelShortfall(reason: string | undefined): string {
  return reason === undefined
    ? 'A network tunnel is granted, and available from the next start.'
    : `A network tunnel is granted, but not available: ${reason}`;
}
