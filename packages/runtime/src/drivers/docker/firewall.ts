// Our own packet rules, in the network namespace of the engine. An internal network still reaches services of the
// machine on its bridge's address, and the engine's configuration is not under our control; these rules reject
// everything from a cell, to the machine and forwarded.
import { findProgram } from '../../find-program.ts';
import { egressRuleset } from '../../network/ruleset.ts';
import { run } from '../../run-command.ts';
import { pool } from './addresses.ts';

export interface FirewallOptions {
  /** Distinguishes the rules of several data folders: 4 characters. */
  readonly owner: string;
  /** File of the network namespace in which the engine lives. Default: ours. */
  readonly networkNamespace?: string;
}

export interface Firewall {
  /** Name of the bridge of a cell; at most 15 characters, which is all that the kernel gives. */
  bridgeName(kind: BridgeKind, cell: string): string;
  /** Puts the rules in place, anew. @throws Error with the words of nft */
  install(): Promise<unknown>;
  /**
   * Lets the two ends of one bridge speak where the machine filters bridged frames too (`bridge-nf-call-iptables`).
   */
  allowWithin(bridge: string): Promise<unknown>;
  forget(bridge: string): Promise<unknown>;
  /** Lets this address of a public bridge reach publicly routable addresses. */
  letOut(bridge: string, address: string): Promise<unknown>;
  /** When this resolves, no further packet passes, those of open connections included. */
  keepIn(bridge: string, address: string): Promise<unknown>;
  /**
   * For a workload that can send any frame: its bridge takes this one address for what is at the interface of this
   * number, and learns no other from frames, which nothing would limit.
   */
  pin(port: number, mac: string): Promise<void>;
  /** Deletes the interfaces on a bridge, and with each its other end, wherever that is. */
  unplug(bridge: string): Promise<void>;
  remove(): Promise<unknown>;
  /** Removes this platform's bridges except these: an engine that is killed while it creates one forgets it. */
  removeStrayBridges(known: readonly string[]): Promise<void>;
}

/** Members of what `ip -json` prints. */
interface Numbered {
  readonly ifindex: number;
  readonly ifname: string;
}

export type BridgeKind = 'restricted' | 'public';

const PREFIXES: Readonly<Record<BridgeKind, string>> = { restricted: 'pr', public: 'pp' };

export function openFirewall({ owner, networkNamespace }: FirewallOptions): Firewall {
  const there =
    networkNamespace === undefined ? [] : [required('nsenter', 'util-linux'), `--net=${networkNamespace}`, '--'];
  const command = [...there, required('nft', 'nftables'), '-f', '-'];
  const ip = [...there, required('ip', 'iproute2')];
  const table = `inet platform_docker_${owner}`;
  const egress = `platform_docker_${owner}_public`;
  const nft = (script: string) => run(command, { input: script });
  return {
    bridgeName: (kind, cell) => `${PREFIXES[kind]}${owner}${cell}`,
    install: () =>
      nft(`${egressRuleset({ table: egress, prefix: `${PREFIXES.public}${owner}`, addresses: pool })}
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
    forget: (bridge) => nft(takenAway(`${table} within { "${bridge}" . "${bridge}" }`)),
    letOut: (bridge, address) => nft(`add element inet ${egress} granted { "${bridge}" . ${address} }\n`),
    keepIn: (bridge, address) => nft(takenAway(`inet ${egress} granted { "${bridge}" . ${address} }`)),
    async removeStrayBridges(known) {
      const links = await run([...ip, '-o', 'link', 'show', 'type', 'bridge']);
      const ours = new RegExp(`^\\d+: ((?:${Object.values(PREFIXES).join('|')})${owner}[0-9a-f]+)[@:]`, 'gm');
      for (const [, name] of links.matchAll(ours)) {
        if (name !== undefined && !known.includes(name)) await run([...ip, 'link', 'delete', name]);
      }
    },
    async pin(port, mac) {
      // Our own tool printed it.
      const links = JSON.parse(await run([...ip, '-json', 'link', 'show', 'type', 'veth'])) as Numbered[];
      const name = links.find(({ ifindex }) => ifindex === port)?.ifname;
      if (name === undefined) throw new Error('The interface of a container has no other end on this machine.');
      await run([...ip, 'link', 'set', 'dev', name, 'type', 'bridge_slave', 'learning', 'off']);
      const bridge = required('bridge', 'iproute2');
      await run([...there, bridge, 'fdb', 'replace', mac, 'dev', name, 'master', 'static']);
    },
    async unplug(bridge) {
      const links = await run([...ip, '-o', 'link', 'show', 'type', 'veth']);
      const members = links.split('\n').filter((line) => line.includes(` master ${bridge} `));
      for (const [, name] of members.join('\n').matchAll(/^\d+: ([^@:]+)[@:]/gm))
        if (name !== undefined) await run([...ip, 'link', 'delete', name]);
    },
    remove: () => nft([table, `inet ${egress}`].map((one) => `add table ${one}\ndelete table ${one}\n`).join('')),
  };
}

/** Added first, since taking away what is not there is an error to nft. */
function takenAway(element: string): string {
  return ['add', 'delete'].map((verb) => `${verb} element ${element}\n`).join('');
}

function required(program: string, from: string): string {
  const found = findProgram(program);
  if (found === undefined) throw new Error(`${program} is not installed. Debian: apt-get install ${from}.`);
  return found;
}
