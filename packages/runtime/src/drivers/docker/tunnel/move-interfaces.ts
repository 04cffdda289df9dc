// Moves the interfaces that the engine gives to a container into the network of its workload, at the start and with every
// grant.
import { closeSync } from 'node:fs';
import { findProgram } from '../../../find-program.ts';
import { run } from '../../../run-command.ts';
import type { Container } from '../engine.ts';
import { isUp } from '../exit-watch.ts';
import type { Firewall } from '../firewall.ts';
import { innerProcess, openNetwork } from '../network-namespace.ts';

/** Only what the engine calls its interfaces: the names become part of a script. */
const INTERFACE = /^eth\d+$/;

/** Members of what `ip -json` prints. */
interface Link {
  readonly ifname: string;
  /** Number of its other end, on the machine. */
  readonly link_index: number;
  readonly address: string;
  readonly addr_info: readonly { readonly family: string; readonly local: string; readonly prefixlen: number }[];
}
interface Route {
  readonly gateway?: string;
  readonly dev: string;
}

/** With their addresses and routes. Does nothing before the container runs. */
export async function moveInterfaces(container: Container, firewall: Pick<Firewall, 'pin'>): Promise<void> {
  const { Id, State } = await container.inspect();
  if (!isUp(State) || State.Pid <= 0) return;
  const outer = openNetwork(State.Pid, Id);
  let inner: number | undefined;
  try {
    inner = openNetwork(innerProcess(State.Pid), Id);
    await move(outer, inner, firewall);
  } finally {
    for (const one of [outer, inner]) if (one !== undefined) closeSync(one);
  }
}

async function move(outer: number, inner: number, firewall: Pick<Firewall, 'pin'>): Promise<void> {
  const [nsenter, ip] = [findProgram('nsenter') ?? 'nsenter', findProgram('ip') ?? 'ip'];
  const path = (descriptor: number) => `/proc/${process.pid}/fd/${descriptor}`;
  const within = (descriptor: number) => [nsenter, `--net=${path(descriptor)}`, '--'];
  // Our own tool printed it.
  const ask = async <Answer>(...what: string[]): Promise<Answer> =>
    JSON.parse((await run([...within(outer), ip, '-json', ...what])) || '[]') as Answer;
  const links = (await ask<Link[]>('address', 'show')).filter(({ ifname }) => INTERFACE.test(ifname));
  const routes = await ask<Route[]>('-4', 'route', 'show', 'default');
  for (const { link_index: port, address } of links) await firewall.pin(port, address);
  const batch = (lines: readonly string[]) => ({ input: `${lines.join('\n')}\n` });
  await run(
    [...within(outer), ip, '-batch', '-'],
    batch(links.map(({ ifname }) => `link set dev ${ifname} netns ${path(inner)}`)),
  );
  const off = links.map(({ ifname }) => `/proc/sys/net/ipv6/conf/${ifname}/disable_ipv6`);
  await run(
    [...within(inner), '/bin/sh', '-euc', `${AS_THE_ENGINE_DOES}${withoutIpv6(off)}exec "$0" -batch -`, ip],
    batch([
      'link set lo up',
      ...links.flatMap(({ ifname, addr_info: addresses }) => [
        ...addresses
          .filter(({ family }) => family === 'inet')
          .map(({ local, prefixlen }) => `address add ${local}/${prefixlen} dev ${ifname}`),
        `link set ${ifname} up`,
      ]),
      ...routes.flatMap(({ gateway, dev }) =>
        gateway === undefined || !INTERFACE.test(dev) ? [] : [`route replace default via ${gateway} dev ${dev}`],
      ),
    ]),
  );
}

/** In the networks of its containers; here in that of a workload. */
const AS_THE_ENGINE_DOES =
  'cd /proc/sys/net/ipv4; echo 0 > ip_unprivileged_port_start; echo "0 2147483647" > ping_group_range; ';

const withoutIpv6 = (files: readonly string[]): string =>
  files.map((file) => `[ ! -e ${file} ] || echo 1 > ${file}; `).join('');
