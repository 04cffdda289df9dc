// The packet filter inside the network of a workload that an ordinary user runs. It stands where the workload's packets
// begin, before whatever carries them on, and belongs to a user namespace in which the workload has no right.
import { publicRanges } from '@platform/contract';

/** The device in front of which everything is judged. */
export const tap = 'eth0';

/** Benchmark space, as of root's workloads. Each network is its own, so all may have the same. */
export const carrierAddresses = { block: '198.18.0.0/24', router: '198.18.0.1', workload: '198.18.0.100' } as const;

const TABLE = 'inet platform';

/**
 * Every packet is judged by itself, and nothing is accepted for being part of a connection. What does not stay inside
 * must go to a publicly routable address that is none of this machine's own.
 */
export function innerRuleset(machine: readonly string[]): string {
  const ranges = publicRanges.map(({ first, last }) => (first === last ? first : `${first}-${last}`)).join(', ');
  return `
table ${TABLE}
delete table ${TABLE}
table ${TABLE} {
  set public4 { type ipv4_addr; flags interval; elements = { ${ranges} } }
  set machine { type ipv4_addr; }

  chain output {
    type filter hook output priority 0; policy drop;
    oifname "lo" accept
    ip daddr @machine jump refuse
    ip daddr @public4 accept
    jump refuse
  }

  chain input {
    type filter hook input priority 0; policy drop;
    iifname "lo" accept
    ip saddr @public4 accept
  }

  chain forward {
    type filter hook forward priority 0; policy drop;
  }

  chain refuse {
    meta nfproto ipv4 meta l4proto tcp reject with tcp reset
    meta nfproto ipv4 reject with icmp type admin-prohibited
    drop
  }
}
${innerMachine(machine)}`;
}

/** Replaces the addresses of this machine in it. */
export function innerMachine(machine: readonly string[]): string {
  return `flush set ${TABLE} machine\n${machine.map((address) => `add element ${TABLE} machine { ${address} }\n`).join('')}`;
}

/** Refuses everything, whatever carries it. */
export const innerNothing = `flush set ${TABLE} public4\n`;
