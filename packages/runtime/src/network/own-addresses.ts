// Which publicly routable addresses this machine has itself, and when they change. Its services listen there too, and
// what the Runtime's user sends to them never leaves it, so no filter on the way would see it.
import { networkInterfaces } from 'node:os';
import { isPubliclyRoutable } from '@platform/contract';

export function ownPublicAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
  return [...new Set(all.filter(isPubliclyRoutable))].sort();
}

/** Milliseconds within which a change is noticed. */
const LOOK_EVERY = 250;

/** Calls back after each change until it is stopped. */
export function watchOwnAddresses(onChange: (addresses: readonly string[]) => void): { stop(): void } {
  let known = ownPublicAddresses().join(' ');
  const timer = setInterval(() => {
    const now = ownPublicAddresses();
    if (now.join(' ') === known) return;
    known = now.join(' ');
    onChange(now);
  }, LOOK_EVERY);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
