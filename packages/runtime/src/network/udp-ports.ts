// Assigns UDP ports of this machine to ports of installations and stores the bindings, so that those which clients know
// are the same after every restart.
import { existsSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import type { Assignment, PublicPortBinding } from '@platform/contract';
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
  /** Why there are none, or fewer than granted, in one sentence. */
  missing(assignment: Assignment): readonly string[];
}

const fileShape = z.record(z.string(), z.record(z.string(), z.int().min(1).max(65_535)));

/**
 * @param options undefined where the operator publishes no ports
 * @throws Error when the file exists but cannot be understood
 */
export function openUdpPorts(file: string, options: UdpPortOptions | undefined): UdpPorts {
  const known = existsSync(file) ? fileShape.parse(JSON.parse(readFileSync(file, 'utf8'))) : {};

  function portOf(installationId: string, name: string): number | undefined {
    if (options === undefined) return undefined;
    const { first, last } = options.range;
    const former = known[installationId]?.[name];
    if (former !== undefined && former >= first && former <= last) return former;
    const taken = new Set(Object.values(known).flatMap((ports) => Object.values(ports)));
    for (let port = first; port <= last; port += 1) {
      if (taken.has(port)) continue;
      known[installationId] = { ...known[installationId], [name]: port };
      writeFileAtomically(file, `${JSON.stringify(known, null, 1)}\n`, 0o600);
      return port;
    }
    return undefined;
  }

  function of({ installationId, udpPorts }: Assignment): (UdpBinding & PublicPortBinding)[] {
    if (options === undefined) return [];
    const { host } = options;
    return udpPorts.flatMap(({ name, containerPort }) => {
      const hostPort = portOf(installationId, name);
      if (hostPort === undefined) return [];
      const inside = containerPort === 'auto' ? hostPort : containerPort;
      return [{ name, protocol: 'udp' as const, containerPort: inside, host, hostPort, hostAddress: addressFor(host) }];
    });
  }

  return {
    of,
    missing(assignment) {
      if (assignment.udpPorts.length === 0) return [];
      if (options === undefined)
        return ['UDP ports are granted, but the operator publishes none: PLATFORM_UDP_PORT_RANGE is not set.'];
      if (of(assignment).length === assignment.udpPorts.length) return [];
      return ['UDP ports are granted, but no port of PLATFORM_UDP_PORT_RANGE is left.'];
    },
  };
}

/** A host that only this machine knows is served on loopback; any other may lead to any of its addresses. */
function addressFor(host: string): string {
  if (host === 'localhost' || host.endsWith('.localhost')) return '127.0.0.1';
  return isIP(host) === 4 && host.startsWith('127.') ? host : '0.0.0.0';
}
