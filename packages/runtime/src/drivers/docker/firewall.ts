// Packet rules of our own, in the network namespace of the engine. An internal network of an engine still reaches the
// services of the machine on its bridge's address, and whatever the engine configures is another program's promise; these
// rules let nothing in and nothing through that comes from a cell.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

export interface FirewallOptions {
  /** Tells the rules of several data folders apart: 4 characters. */
  readonly owner: string;
  /** File of the network namespace in which the engine lives. Default: ours. */
  readonly networkNamespace?: string;
}

export interface Firewall {
  /** Name of the bridge of a cell; at most 15 characters, which is all that the kernel gives. */
  bridgeName(kind: BridgeKind, cell: string): string;
  /** Puts the rules in place, anew. @throws Error with the words of nft */
  install(): Promise<void>;
  /**
   * Lets the two ends of one bridge speak where the machine filters bridged frames too (`bridge-nf-call-iptables`).
   */
  allowWithin(bridge: string): Promise<void>;
  forget(bridge: string): Promise<void>;
  remove(): Promise<void>;
}

export type BridgeKind = 'restricted' | 'public';

const PREFIXES: Readonly<Record<BridgeKind, string>> = { restricted: 'pr', public: 'pp' };

export function openFirewall({ owner, networkNamespace }: FirewallOptions): Firewall {
  const table = `inet platform_docker_${owner}`;
  const nft = (script: string) => runNft(networkNamespace, script);
  return {
    bridgeName: (kind, cell) => `${PREFIXES[kind]}${owner}${cell}`,
    install: () =>
      nft(`
add table ${table}
delete table ${table}
table ${table} {
  set within { type ifname . ifname; }
  chain input {
    type filter hook input priority -10; policy accept;
    iifname "pr${owner}*" jump refuse
  }
  chain forward {
    type filter hook forward priority -10; policy accept;
    iifname . oifname @within accept
    iifname "pr${owner}*" jump refuse
    oifname "pr${owner}*" drop
  }
  chain refuse {
    meta l4proto { tcp, udp } reject with icmpx admin-prohibited
    drop
  }
}
`),
    allowWithin: (bridge) => nft(`add element ${table} within { "${bridge}" . "${bridge}" }\n`),
    forget: (bridge) => nft(`delete element ${table} within { "${bridge}" . "${bridge}" }\n`),
    remove: () => nft(`add table ${table}\ndelete table ${table}\n`),
  };
}

async function runNft(networkNamespace: string | undefined, script: string): Promise<void> {
  const command = ['nft', '-f', '-'];
  const [program = 'nft', ...rest] =
    networkNamespace === undefined ? command : ['nsenter', `--net=${networkNamespace}`, ...command];
  const child = spawn(program, rest, {
    stdio: ['pipe', 'ignore', 'pipe'],
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
  });
  const failed = once(child, 'error').then(([error]: unknown[]) => {
    throw error;
  });
  const closed = once(child, 'close');
  child.stdin.on('error', () => undefined);
  child.stdin.end(script);
  const [said] = await Promise.race([Promise.all([text(child.stderr), closed]), failed]);
  if (child.exitCode !== 0) throw new Error(`nft: ${said.trim()}`);
}
