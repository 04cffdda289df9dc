// Two network namespaces with a cable between them, for tests of two machines. Nothing leaves them, and the machine's
// own network is not touched. Needs root.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import * as path from 'node:path';

export interface TwoNetworks {
  readonly a: Network;
  readonly b: Network;
  /** In front of `b`, where there is one. */
  readonly router?: Network;
  /** Between the two, packets are lost in both directions, and nobody is told; and arrive again. */
  cut(): void;
  join(): void;
  remove(): void;
}

export interface Network {
  /** For `nsenter --net=…`. */
  readonly file: string;
  readonly address: string;
}

/** Why there can be none here, with what to do; `false` where there can. */
export function namespacesUnavailable(): string | false {
  if (process.getuid?.() !== 0) return 'network namespaces need root: run the tests as root';
  for (const program of ['ip', 'nsenter', 'nft']) {
    if (!(process.env.PATH ?? '').split(':').some((folder) => existsSync(path.join(folder, program))))
      return `the program ${program} is missing: install iproute2, util-linux and nftables`;
  }
  return false;
}

export function connectTwoNetworks(): TwoNetworks {
  const { names, ip, remove } = namespaces(['a', 'b']);
  const [a, b] = names as [string, string];
  try {
    cable(ip, { from: a, to: b, addresses: [ADDRESSES.a, ADDRESSES.b] });
  } catch (error) {
    remove();
    throw error;
  }
  return {
    a: { file: `/run/netns/${a}`, address: ADDRESSES.a },
    b: { file: `/run/netns/${b}`, address: ADDRESSES.b },
    ...wire(a, b),
    remove,
  };
}

export interface NetworksBehindNat extends TwoNetworks {
  readonly router: Network;
  /** Addresses to which something in `a` and in `b` has sent TCP or UDP packets, but for the loopback interface. */
  sentTo(): { readonly a: string[]; readonly b: string[] };
}

/**
 * The same with a router between the two, which lets connections out from `b` under an address of its own, and none in.
 *
 * @param udp whether UDP packets pass at all
 */
export function connectBehindNat({ udp = true } = {}): NetworksBehindNat {
  const { names, ip, remove } = namespaces(['a', 'r', 'b']);
  const [a, router, b] = names as [string, string, string];
  const inRouter = (...command: string[]) => inside(router, ...command);
  try {
    cable(ip, { from: a, to: router, addresses: [ADDRESSES.a, ADDRESSES.b] });
    cable(ip, { from: router, to: b, addresses: [ADDRESSES.inside, ADDRESSES.hidden] });
    ip('-n', b, 'route', 'add', 'default', 'via', ADDRESSES.inside);
    // On purpose: a neighbour that tries to reach the machine behind it is sent the right way, and still gets nowhere.
    ip('-n', a, 'route', 'add', `${ADDRESSES.hidden}/32`, 'via', ADDRESSES.b);
    inRouter('sysctl', '-qw', 'net.ipv4.ip_forward=1');
    const outside = `to-${a}`;
    inRouter('nft', 'add table ip nat');
    inRouter('nft', 'add chain ip nat out { type nat hook postrouting priority srcnat; }');
    inRouter('nft', `add rule ip nat out oifname "${outside}" masquerade`);
    inRouter('nft', 'add table ip filter');
    inRouter('nft', 'add chain ip filter through { type filter hook forward priority filter; }');
    inRouter('nft', `add rule ip filter through iifname "${outside}" ct state new drop`);
    if (!udp) inRouter('nft', 'add rule ip filter through meta l4proto udp drop');
    for (const name of [a, b]) recordSent(name);
  } catch (error) {
    remove();
    throw error;
  }
  return {
    a: { file: `/run/netns/${a}`, address: ADDRESSES.a },
    sentTo: () => ({ a: sentFrom(a), b: sentFrom(b) }),
    router: { file: `/run/netns/${router}`, address: ADDRESSES.b },
    b: { file: `/run/netns/${b}`, address: ADDRESSES.hidden },
    ...wire(a, router),
    remove,
  };
}

const FAMILIES = [
  ['ip', 'ipv4_addr'],
  ['ip6', 'ipv6_addr'],
] as const;

/** Keeps every destination that leaves the namespace in a set of nftables. */
function recordSent(name: string): void {
  const nft = (...command: string[]) => inside(name, 'nft', ...command);
  nft('add table inet sent');
  nft('add chain inet sent out { type filter hook output priority 0; }');
  for (const [family, type] of FAMILIES) {
    nft(`add set inet sent to-${family} { type ${type}; flags dynamic; size 1024; }`);
    nft(`add rule inet sent out oifname != "lo" meta l4proto { tcp, udp } add @to-${family} { ${family} daddr }`);
  }
}

function sentFrom(name: string): string[] {
  return FAMILIES.flatMap(([family]) => {
    const command = [`--net=/run/netns/${name}`, '--', 'nft', '-j', 'list', 'set', 'inet', 'sent', `to-${family}`];
    const { nftables } = JSON.parse(execFileSync('nsenter', command).toString()) as {
      nftables: { set?: { elem?: (string | { elem: { val: string } })[] } }[];
    };
    return nftables.flatMap(({ set }) =>
      (set?.elem ?? []).map((one) => (typeof one === 'string' ? one : one.elem.val)),
    );
  }).sort();
}

/**
 * Packets are dropped where they arrive, so that neither side learns of it: one that cannot be sent would be an error at
 * once.
 */
function wire(one: string, other: string): Pick<TwoNetworks, 'cut' | 'join'> {
  const ends = [
    [one, `to-${other}`],
    [other, `to-${one}`],
  ] as const;
  return {
    cut() {
      for (const [name, device] of ends) {
        inside(name, 'nft', 'add table inet cut');
        inside(name, 'nft', 'add chain inet cut in { type filter hook prerouting priority raw; }');
        inside(name, 'nft', `add rule inet cut in iifname "${device}" drop`);
      }
    },
    join() {
      for (const [name] of ends) inside(name, 'nft', 'delete table inet cut');
    },
  };
}

function inside(name: string, ...command: string[]): void {
  execFileSync('nsenter', [`--net=/run/netns/${name}`, '--', ...command], { stdio: ['ignore', 'ignore', 'inherit'] });
}

type Ip = (...args: string[]) => void;

function namespaces(ends: readonly string[]): { readonly names: string[]; readonly ip: Ip; remove(): void } {
  // Names of interfaces have at most 15 characters.
  const tag = `pt${randomBytes(3).toString('hex')}`;
  const names = ends.map((end) => `${tag}-${end}`);
  const ip: Ip = (...args) => void execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const remove = () => {
    for (const name of names) if (existsSync(`/run/netns/${name}`)) ip('netns', 'delete', name);
  };
  try {
    for (const name of names) {
      ip('netns', 'add', name);
      ip('-n', name, 'link', 'set', 'lo', 'up');
    }
  } catch (error) {
    remove();
    throw error;
  }
  return { names, ip, remove };
}

/** Each end has the name of the namespace it leads to. */
function cable(
  ip: Ip,
  {
    from,
    to,
    addresses,
  }: { readonly from: string; readonly to: string; readonly addresses: readonly [string, string] },
): void {
  ip('link', 'add', `to-${to}`, 'netns', from, 'type', 'veth', 'peer', 'name', `to-${from}`, 'netns', to);
  for (const [name, device, address] of [
    [from, `to-${to}`, addresses[0]],
    [to, `to-${from}`, addresses[1]],
  ] as const) {
    ip('-n', name, 'address', 'add', `${address}/24`, 'dev', device);
    ip('-n', name, 'link', 'set', device, 'up');
  }
}

/** Of private networks (RFC 1918) that exist in the namespaces only. */
const ADDRESSES = { a: '10.213.77.1', b: '10.213.77.2', inside: '10.213.78.1', hidden: '10.213.78.2' } as const;
