// The packet filter that keeps workloads to publicly routable IPv4 addresses: one text for nft, for every driver that
// connects workloads by interfaces of their own.
//
// Every packet that a workload sends is judged by itself, whatever connection it belongs to. There is no rule that
// accepts what is established: taking an element out of `granted` freezes open connections with their next packet.
import { publicRanges } from '@platform/contract';

export interface RulesetOptions {
  /** Name of the table, which is replaced as a whole. */
  readonly table: string;
  /** What the names of all interfaces towards workloads begin with. At most 10 characters of `[a-z0-9-]`. */
  readonly prefix: string;
  /** Block that holds the addresses of all workloads. */
  readonly addresses: string;
}

/**
 * `granted` holds interface and address of each workload with `network.public`, `opened` the interfaces on which
 * forwarding was turned on for them alone, so that nothing else is forwarded from there.
 */
export function egressRuleset({ table, prefix, addresses }: RulesetOptions): string {
  const workloads = `"${prefix}*"`;
  const ranges = publicRanges.map(({ first, last }) => (first === last ? first : `${first}-${last}`)).join(', ');
  return `
table inet ${table}
delete table inet ${table}
table inet ${table} {
  set public4 { type ipv4_addr; flags interval; elements = { ${ranges} } }
  set granted { type ifname . ipv4_addr; }
  set opened { type ifname; }

  chain input {
    type filter hook input priority -150; policy accept;
    iifname ${workloads} jump refuse
  }

  chain forward {
    type filter hook forward priority -150; policy accept;
    iifname ${workloads} jump from_workload
    oifname ${workloads} jump to_workload
    iifname @opened drop
  }

  chain from_workload {
    oifname ${workloads} jump refuse
    iifname . ip saddr != @granted jump refuse
    ip daddr @public4 accept
    jump refuse
  }

  chain to_workload {
    oifname . ip daddr @granted ct direction reply ct state established,related accept
    drop
  }

  chain refuse {
    meta nfproto ipv4 meta l4proto tcp reject with tcp reset
    meta nfproto ipv4 ip saddr ${addresses} reject with icmp type admin-prohibited
    drop
  }

  chain leave {
    type nat hook postrouting priority 100; policy accept;
    ip saddr ${addresses} oifname != ${workloads} masquerade
  }
}
`;
}
