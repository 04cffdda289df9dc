// Chooses the way to the internet that this machine has for workloads of the process driver, and says why if it has none.
import { findProgram } from '../find-program.ts';
import { type EgressWays, NoEgress } from './egress.ts';
import { openVethEgress } from './veth-egress.ts';

/** @returns why there is none, when there is none */
export async function openEgress(dataDirectory: string): Promise<EgressWays | NoEgress> {
  if (process.getuid?.() !== 0) {
    return new NoEgress('only a platform that runs as root can make one on this machine.');
  }
  const [nft, ip, nsenter] = [findProgram('nft'), findProgram('ip'), findProgram('nsenter')];
  if (nft === undefined || ip === undefined || nsenter === undefined) {
    return new NoEgress(
      'nft, ip or nsenter is not installed on this machine (Debian: apt-get install nftables iproute2 util-linux).',
    );
  }
  try {
    return await openVethEgress(dataDirectory, { nft, ip, nsenter });
  } catch (error) {
    return new NoEgress(`this machine does not let the platform change its network (${firstLine(error)}).`);
  }
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';
}
