// The way to the internet as root: a pair of virtual interfaces for each granted workload, and a packet filter on this
// side of it, which the workload cannot reach.
import { createHash } from 'node:crypto';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addressText } from '@platform/contract';
import type { Log } from '../clock.ts';
import { run } from '../run-command.ts';
import type { Egress, EgressWays, NetworkPlace } from './egress.ts';
import { type Forwarding, openForwarding } from './forwarding.ts';
import { egressRuleset } from './ruleset.ts';

export interface VethTools {
  readonly nft: string;
  readonly ip: string;
  readonly nsenter: string;
}

export interface VethParts {
  /** Names what is made on this machine, so that the next start finds what this one may leave behind. */
  readonly dataDirectory: string;
  readonly tools: VethTools;
  readonly log: Log;
}

/** Address space for benchmarks (RFC 2544): never routed, and blocked for workloads, so it hides no real host. */
const ADDRESSES = '198.18.0.0/15';
const FIRST_ADDRESS = 198 * 2 ** 24 + 18 * 2 ** 16;
const ADDRESS_COUNT = 2 ** 17;
/** What every workload sees as its router: this machine's end of the pair. */
const ROUTER = addressText(FIRST_ADDRESS + 1);
const INSIDE = 'eth0';

export async function openVethEgress({ dataDirectory, tools, log }: VethParts): Promise<EgressWays> {
  const { dev, ino } = statSync(dataDirectory);
  const name = createHash('sha256').update(`${dev}:${ino}`).digest('hex').slice(0, 6);
  const table = `platform_${name}`;
  const prefix = `p${name}-`;
  const forwarding = openForwarding(join(dataDirectory, 'runtime', 'forwarding'));
  await removeLeftovers(tools, { table, prefix, forwarding });
  let standing: Promise<void> | undefined;

  /** The table is made with the first grant, so that a machine without grants keeps its packet filter as it is. */
  async function stand(): Promise<void> {
    standing ??= nft(tools, egressRuleset({ table, prefix, addresses: ADDRESSES }));
    await standing.catch((error: unknown) => {
      standing = undefined;
      throw error;
    });
    forwarding.open(await uplinks(tools));
    const opened = forwarding.opened().map((uplink) => `add element inet ${table} opened { "${uplink}" }\n`);
    await nft(tools, `flush set inet ${table} opened\n${opened.join('')}`);
  }

  return {
    attach(place) {
      return vethEgress({ tools, log, table, prefix, stand, place });
    },
    async close() {
      await removeLeftovers(tools, { table, prefix, forwarding });
      standing = undefined;
    },
  };
}

interface PairParts extends Pick<VethParts, 'tools' | 'log'> {
  readonly table: string;
  readonly prefix: string;
  readonly stand: () => Promise<void>;
  readonly place: NetworkPlace;
}

function vethEgress({ tools, log, table, prefix, stand, place }: PairParts): Egress {
  const uid = place.uid ?? 0;
  const outside = `${prefix}${uid.toString(36)}`;
  const address = addressText(FIRST_ADDRESS + (uid % ADDRESS_COUNT));
  const element = `element inet ${table} granted { "${outside}" . ${address} }`;
  const namespace = `/proc/${process.pid}/fd/${place.descriptor}`;
  /** Whether something was made that has to be taken away. */
  let made = false;

  async function connect(): Promise<void> {
    await ip(tools, `link add name ${outside} type veth peer name ${INSIDE} netns ${namespace}\n`);
    writeFileSync(`/proc/sys/net/ipv4/conf/${outside}/forwarding`, '1');
    withoutIpv6(`/proc/sys/net/ipv6/conf/${outside}/disable_ipv6`);
    await ip(
      tools,
      `address add ${ROUTER}/32 dev ${outside}\nlink set ${outside} up\nroute add ${address}/32 dev ${outside}\n`,
    );
    const off = `/proc/sys/net/ipv6/conf/${INSIDE}/disable_ipv6`;
    await run(
      [
        ...[tools.nsenter, `--net=${namespace}`, '--', '/bin/sh', '-euc'],
        `[ ! -e ${off} ] || echo 1 > ${off}; exec "$0" -batch -`,
        tools.ip,
      ],
      {
        input: [
          `link set ${INSIDE} up`,
          `address add ${address}/32 dev ${INSIDE}`,
          `route add ${ROUTER}/32 dev ${INSIDE}`,
          `route add default via ${ROUTER} dev ${INSIDE}`,
          '',
        ].join('\n'),
      },
    );
  }

  /** Either of the two is enough: without the element nothing passes, without the interface there is no way. */
  async function disconnect(): Promise<void> {
    const [filter, link] = [
      await attempt(nft(tools, `add ${element}\ndelete ${element}\n`)),
      await attempt(ip(tools, `link delete ${outside}\n`)),
    ];
    // The kernel has taken the interface away with the namespace, or does so soon.
    const stays = link !== undefined && interfaceExists(outside);
    if (filter !== undefined && stays) throw filter;
    if (filter !== undefined || stays)
      log.warn({ installationId: place.key, err: filter ?? link }, 'one end of a public network could not be removed');
    made = false;
  }

  return {
    async grant() {
      if (uid % ADDRESS_COUNT < 2) throw new Error('no address is left for this installation');
      await stand();
      made = true;
      try {
        await connect();
        await nft(tools, `add ${element}\n`);
      } catch (error) {
        await disconnect();
        throw error;
      }
    },
    async revoke() {
      if (made) await disconnect();
    },
    async close() {
      const { key: installationId } = place;
      const err = made ? await attempt(disconnect()) : undefined;
      if (err !== undefined)
        log.error({ installationId, err }, 'a public network could not be removed until the next start');
    },
  };
}

async function attempt(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
    return undefined;
  } catch (error) {
    return error;
  }
}

function nft(tools: VethTools, script: string): Promise<void> {
  return run([tools.nft, '-f', '-'], { input: script }).then(() => undefined);
}

function ip(tools: VethTools, batch: string): Promise<void> {
  return run([tools.ip, '-batch', '-'], { input: batch }).then(() => undefined);
}

function withoutIpv6(setting: string): void {
  if (existsSync(setting)) writeFileSync(setting, '1');
}

function interfaceExists(name: string): boolean {
  return existsSync(`/proc/sys/net/ipv4/conf/${name}`);
}

/** Interfaces through which this machine reaches the internet. */
async function uplinks(tools: VethTools): Promise<string[]> {
  const text = await run([tools.ip, '-4', '-o', 'route', 'show', 'default']);
  return [...new Set([...text.matchAll(/ dev (\S+)/g)].flatMap(([, name]) => name ?? []))];
}

async function removeLeftovers(
  tools: VethTools,
  { table, prefix, forwarding }: { readonly table: string; readonly prefix: string; readonly forwarding: Forwarding },
): Promise<void> {
  const links = await run([tools.ip, '-o', 'link', 'show', 'type', 'veth']);
  const ours = [...links.matchAll(/^\d+: ([^@:\s]+)/gm)].flatMap(([, name]) => (name?.startsWith(prefix) ? name : []));
  // One by one: the kernel may be taking some away with their namespaces just now.
  for (const name of ours) await attempt(ip(tools, `link delete ${name}\n`));
  forwarding.restore();
  if ((await run([tools.nft, 'list', 'tables'])).includes(`table inet ${table}\n`)) {
    await nft(tools, `delete table inet ${table}\n`);
  }
}
