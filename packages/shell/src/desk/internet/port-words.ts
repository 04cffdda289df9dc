// Where a public UDP port of a backend is reached, in words.
import type { PublicPortStatus } from '@platform/contract';

/** `play.example:40000`, and an IPv6 address in brackets. */
export function portAddress({ host, hostPort }: Pick<PublicPortStatus, 'host' | 'hostPort'>): string {
  return `${host.includes(':') ? `[${host}]` : host}:${hostPort}`;
}

/** Why it is not open, or which port it is inside. */
export function portAbout({ containerPort, hostPort, closed }: PublicPortStatus): string {
  if (closed !== undefined) return closed;
  return containerPort === hostPort ? 'the same port inside' : `port ${containerPort} inside`;
}
