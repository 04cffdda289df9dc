// The two kinds of networks that a cell may have on the engine, each a bridge with a small block of addresses.
import { setTimeout as delay } from 'node:timers/promises';
import { type Block, blockAt } from './addresses.ts';
import type { CellParts } from './cells.ts';
import { type Engine, engineMessage, engineStatus, labels, removed } from './engine.ts';
import type { BridgeKind } from './firewall.ts';

export const restrictedName = (owner: string, cell: string): string => `platform-${owner}-${cell}`;
export const publicName = (owner: string, cell: string): string => `platform-${owner}-${cell}-public`;

const ATTEMPTS = 16;
const IN_USE = 403;
const IN_USE_AGAIN_MS = 100;
const OVERLAP = /overlap/i;

/** @throws Error when the engine did not make it as it was asked to, or no block is free */
export async function makeBridge(parts: CellParts, kind: BridgeKind, cell: string): Promise<Block> {
  const { engine, firewall, owner, numbers } = parts;
  const internal = kind === 'restricted';
  for (let attempt = 1; ; attempt += 1) {
    const block = blockAt(numbers.next());
    try {
      const network = await engine.createNetwork({
        Name: internal ? restrictedName(owner, cell) : publicName(owner, cell),
        Driver: 'bridge',
        Internal: internal,
        EnableIPv6: false,
        Attachable: false,
        CheckDuplicate: true,
        IPAM: { Driver: 'default', Config: [{ Subnet: block.subnet, Gateway: block.bridge }] },
        Options: { 'com.docker.network.bridge.name': firewall.bridgeName(kind, cell) },
        Labels: { [labels.owner]: owner, [labels.role]: kind, [labels.cell]: cell },
      });
      const made = await network.inspect();
      if (made.Internal !== internal || made.EnableIPv6 === true || made.IPAM?.Config?.[0]?.Subnet !== block.subnet) {
        throw new Error('The engine did not create the network as requested.');
      }
      return block;
    } catch (error) {
      const taken = engineStatus(error) !== undefined && OVERLAP.test(engineMessage(error));
      if (!taken || attempt === ATTEMPTS) throw error;
    }
  }
}

/** Removes a network that may be gone, with whatever the engine believes to be on it. */
export async function removeNetwork(engine: Engine, name: string): Promise<void> {
  const network = engine.getNetwork(name);
  for (let attempt = 1; ; attempt += 1) {
    try {
      await removed(network.remove());
      return;
    } catch (error) {
      if (engineStatus(error) !== IN_USE || attempt === ATTEMPTS) throw error;
    }
    // An engine that was killed remembers members that are gone; one at work is a moment behind.
    const { Containers } = await network.inspect();
    const cut = Object.keys(Containers ?? {}).map((Container) => network.disconnect({ Container, Force: true }));
    await Promise.allSettled(cut);
    await delay(IN_USE_AGAIN_MS);
  }
}
