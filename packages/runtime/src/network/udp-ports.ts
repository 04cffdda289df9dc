// Assigns UDP ports of this machine to ports of installations and stores the bindings, so that those which clients know
// are the same after every restart, and after the app was removed and installed again.
//
// A number stays with its installation as long as that is assigned to this machine. Then others may have it, but only when no
// number is left that nobody ever had: datagrams for the former app would reach them, and an app that is installed again
// mostly finds its number.
import { existsSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { type Assignment, mostPublicPorts, type PublicPortBinding, type PublicPortStatus } from '@platform/contract';
import * as z from 'zod';
import { writeFileAtomically } from '../atomic-file.ts';
import type { UdpBinding } from '../drivers/driver.ts';

export interface UdpPortOptions {
  /** Host name or address under which clients reach this machine. */
  readonly host: string;
  /** Both inclusive. */
  readonly range: { readonly first: number; readonly last: number };
}

export interface UdpPorts {
  /** What the granted ports of an installation are bound to; those for which none is left are missing. */
  of(assignment: Assignment): readonly (UdpBinding & PublicPortBinding)[];
  /** The numbers that are kept for an installation whose backend does not run. Assigns none. */
  kept(assignment: Assignment): readonly PublicPortStatus[];
  /** Why there are none, or fewer than granted, in one sentence. */
  missing(assignment: Assignment): readonly string[];
}

export interface UdpPortParts {
  /** Holds the bindings. */
  readonly file: string;
  /** Undefined where the operator publishes no ports. */
  readonly options: UdpPortOptions | undefined;
  /** Whether an installation is assigned to this machine. */
  readonly isHere: (installationId: string) => boolean;
}

const AT_REST = 'It opens when the backend runs.';

const fileShape = z.record(z.string(), z.record(z.string(), z.int().min(1).max(65_535)));

/** @throws Error when the file exists but cannot be understood */
export function openUdpPorts({ file, options, isHere }: UdpPortParts): UdpPorts {
  const known = existsSync(file) ? fileShape.parse(JSON.parse(readFileSync(file, 'utf8'))) : {};

  function isInRange(port: number | undefined): port is number {
    return options !== undefined && port !== undefined && port >= options.range.first && port <= options.range.last;
  }

  function knownPort(installationId: string, name: string): number | undefined {
    const port = known[installationId]?.[name];
    return isInRange(port) ? port : undefined;
  }

  function portOf({ installationId, udpPorts }: Assignment, name: string): number | undefined {
    const former = knownPort(installationId, name);
    if (former !== undefined) return former;
    const port = freePort(udpPorts.find((one) => one.name === name)?.hostPort);
    if (port === undefined) return undefined;
    const others = Object.entries(known[installationId] ?? {});
    // A revoked port finds its number when it is granted again; versions that name ever new ports keep no more than one may.
    const isKept = ([one]: [string, number]) =>
      others.length < mostPublicPorts || udpPorts.some((granted) => granted.name === one);
    known[installationId] = { ...Object.fromEntries(others.filter(isKept)), [name]: port };
    writeFileAtomically(file, `${JSON.stringify(known, null, 1)}\n`, 0o600);
    return port;
  }

  /** @param wished the number that it had on another machine */
  function freePort(wished: number | undefined): number | undefined {
    if (options === undefined) return undefined;
    const { first, last } = options.range;
    const holders = new Map(
      Object.entries(known).flatMap(([id, ports]) => Object.values(ports).map((port) => [port, id] as const)),
    );
    if (isInRange(wished) && takeBack(wished, holders)) return wished;
    for (let port = first; port <= last; port += 1) if (!holders.has(port)) return port;
    return [...holders.keys()].find((port) => isInRange(port) && takeBack(port, holders));
  }

  /** Whether nobody has this port any more. */
  function takeBack(port: number, holders: ReadonlyMap<number, string>): boolean {
    const holder = holders.get(port);
    if (holder === undefined) return true;
    if (isHere(holder)) return false;
    delete known[holder];
    return true;
  }

  function bindingsOf(
    { udpPorts }: Assignment,
    portFor: (name: string) => number | undefined,
  ): (UdpBinding & PublicPortBinding)[] {
    if (options === undefined) return [];
    const { host } = options;
    return udpPorts.flatMap(({ name, containerPort }) => {
      const hostPort = portFor(name);
      if (hostPort === undefined) return [];
      const inside = containerPort === 'auto' ? hostPort : containerPort;
      return [{ name, protocol: 'udp' as const, containerPort: inside, host, hostPort, hostAddress: addressFor(host) }];
    });
  }

  const of = (assignment: Assignment) => bindingsOf(assignment, (name) => portOf(assignment, name));

  return {
    of,
    kept: (assignment) =>
      bindingsOf(assignment, (name) => knownPort(assignment.installationId, name)).map(
        ({ hostAddress: _, ...shown }) => ({ ...shown, closed: AT_REST }),
      ),
    missing(assignment) {
      if (assignment.udpPorts.length === 0) return [];
      if (options === undefined)
        return ['UDP ports are granted, but the operator publishes none: PLATFORM_UDP_PORT_RANGE is not set.'];
      const bound = of(assignment).map(({ name }) => name);
      const without = assignment.udpPorts.flatMap(({ name }) => (bound.includes(name) ? [] : [name]));
      if (without.length === 0) return [];
      const { first, last } = options.range;
      return [
        `UDP ports are granted, but no port of PLATFORM_UDP_PORT_RANGE (${first}-${last}) is left for ${without.join(', ')}: ` +
          'other apps have them all. The operator can set a wider range; removing an app frees its ports.',
      ];
    },
  };
}

/** A host that only this machine knows is served on loopback; any other may lead to any of its addresses. */
function addressFor(host: string): string {
  if (host === 'localhost' || host.endsWith('.localhost')) return '127.0.0.1';
  return isIP(host) === 4 && host.startsWith('127.') ? host : '0.0.0.0';
}
