// Where a public UDP port of a backend is reached, in words.
import type { PublicPortBinding } from '@platform/contract';

/** `play.example:40000`, and an IPv6 address in brackets. */
export function portAddress({ host, hostPort }: PublicPortBinding): string {
  return `${host.includes(':') ? `[${host}]` : host}:${hostPort}`;
}

export function portAbout({ containerPort, hostPort }: PublicPortBinding): string {
  return containerPort === hostPort ? 'the same port inside' : `port ${containerPort} inside`;
}
