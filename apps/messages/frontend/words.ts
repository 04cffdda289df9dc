// People and times as the person reads them.
import type { Conversation } from '@platform/sdk/browser';

export function otherOf({ participants }: Conversation): string {
  return participants[0]?.address ?? 'nobody';
}

/** Somebody who is no account of this platform. */
export function isElsewhere(address: string): boolean {
  return address.startsWith('@');
}

/** As the platform calls somebody whose account is no more. */
export const DELETED = 'deleted account';

/** Without the part that is the same for everybody here. */
export function shortName(address: string, own: string | undefined): string {
  const server = own?.slice(own.indexOf('@'));
  return server !== undefined && address.endsWith(server) ? address.slice(0, -server.length) : address;
}

const DAY = 86_400_000;

/** `14:05` today, `Tuesday` within a week, otherwise the date. */
export function whenShort(iso: string, now = new Date()): string {
  const at = new Date(iso);
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
  if (at.getTime() >= midnight) return at.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
  if (at.getTime() >= midnight - 6 * DAY) return at.toLocaleDateString([], { weekday: 'long' });
  return at.toLocaleDateString([], { day: 'numeric', month: 'short', year: 'numeric' });
}

export function dayOf(iso: string): string {
  return new Date(iso).toLocaleDateString([], { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
}

export function timeOf(iso: string): string {
  return new Date(iso).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
}
