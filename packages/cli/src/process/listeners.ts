// Where a process of the platform listens on this machine, and the variable that changes it.
import type { PlatformConfig } from '@platform/core/config';
import { StartError } from '@platform/core/start';

export interface PlannedListener {
  /** Changes where it listens: a port, `<host>:<port>`, or the origin that it follows. */
  readonly variable: string;
  readonly host: string;
  readonly port: number;
  /** For people. */
  readonly what: string;
  /** Where browsers come to; with a port other than its own, a proxy is in front of it. Default: not known. */
  readonly origin?: string;
  /** The supervisor binds it and keeps it while the part is restarted; the part listens with `placeToListen`. Default: it does not. */
  readonly isKept?: boolean;
  /** `platform doctor` looks at it with the way of public requests, not as a port. Default: as a port. */
  readonly isOnPublicPath?: boolean;
}

/** Whether `variable` decides on a listener's port, and not its origin: behind a proxy, or where it is set. */
export function namesPort({ effective }: Pick<PlatformConfig, 'effective'>, variable: string, origin: string): boolean {
  return origin.startsWith('https:') || effective.some(({ name, set }) => name === variable && set);
}

/** @throws StartError `ports_contradict` when two of them would take the same port */
export function requireDifferentPorts(listeners: readonly PlannedListener[]): void {
  for (const [index, one] of listeners.entries()) {
    const other = listeners.slice(index + 1).find((later) => overlap(one, later));
    if (other === undefined) continue;
    throw new StartError(
      'ports_contradict',
      `${one.variable} and ${other.variable} both name port ${one.port} on ${other.host}; give them different ports.`,
    );
  }
}

const EVERY_ADDRESS = ['0.0.0.0', '::'];

function overlap(one: PlannedListener, other: PlannedListener): boolean {
  if (one.port !== other.port) return false;
  return one.host === other.host || EVERY_ADDRESS.includes(one.host) || EVERY_ADDRESS.includes(other.host);
}
