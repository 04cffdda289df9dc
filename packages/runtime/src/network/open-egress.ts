// Chooses the way to the internet that this machine has for workloads of the process driver, and says why if it has none.
import type { Log } from '../clock.ts';
import { findProgram } from '../find-program.ts';
import { type EgressWays, NoEgress } from './egress.ts';
import { type CarrierName, openUserEgress } from './open-user-egress.ts';
import { openVethEgress } from './veth-egress.ts';

export interface OpenEgressOptions {
  readonly dataDirectory: string;
  /** Whether the user that runs the platform can act in the networks of its workloads. As root it always can. */
  readonly reachable: boolean;
  /** What may carry the traffic of an ordinary user's workloads, best first. Default: all that this machine has. */
  readonly carriers?: readonly CarrierName[];
  readonly log: Log;
}

/** @returns why there is none, when there is none */
export async function openEgress({
  dataDirectory,
  reachable,
  carriers,
  log,
}: OpenEgressOptions): Promise<EgressWays | NoEgress> {
  if (process.getuid?.() !== 0) {
    return reachable
      ? openUserEgress(log, carriers)
      : new NoEgress('only a platform that runs as root can make one with what this machine has.');
  }
  const [nft, ip, nsenter] = [findProgram('nft'), findProgram('ip'), findProgram('nsenter')];
  if (nft === undefined || ip === undefined || nsenter === undefined) {
    return new NoEgress(
      'nft, ip or nsenter is not installed on this machine (Debian: apt-get install nftables iproute2 util-linux).',
    );
  }
  try {
    return await openVethEgress({ dataDirectory, tools: { nft, ip, nsenter }, log });
  } catch (error) {
    return new NoEgress(`this machine does not let the platform change its network (${firstLine(error)}).`);
  }
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';
}
