// Whether the machine at an address answers at all. Its kernel does, also while the part there is busy.
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { placeOf, type TlsTarget } from './connect.ts';

/** Milliseconds from one attempt to the next: one packet may get lost. */
const STAGGER = 250;
const ATTEMPTS = 3;

/**
 * Resolves once the machine of `origin` has taken or refused a TCP connection.
 *
 * @throws Error when none of three attempts was answered before `signal` fired
 */
export async function probeTcp(
  origin: string,
  { lookup, signal }: Pick<TlsTarget, 'lookup'> & { readonly signal: AbortSignal },
): Promise<void> {
  const { hostname: host, port } = placeOf(new URL(origin));
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  const attempt = async (): Promise<void> => {
    const socket = connect({ host, port: Number(port), ...(lookup === undefined ? {} : { lookup }) });
    try {
      await once(socket, 'connect', { signal: either });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED') throw error;
    } finally {
      socket.destroy();
    }
  };
  try {
    await Promise.any(
      Array.from({ length: ATTEMPTS }, (_, index) =>
        delay(index * STAGGER, undefined, { signal: either }).then(attempt),
      ),
    );
  } finally {
    over.abort();
  }
}
