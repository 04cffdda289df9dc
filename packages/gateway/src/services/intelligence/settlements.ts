// Reports to core what calls used. Nobody waits for it: while core is away it is repeated, and core takes it once only. A call
// that lasts keeps its reservation.
import { limits } from '@platform/contract';
import * as z from 'zod';
import { type CoreCalls, CoreRefusal } from '../core-calls.ts';
import type { Used } from './accounting/accounting.ts';

export interface Settlements {
  /** The call begins. */
  open(reservation: string): void;
  /** It has ended. */
  settle(reservation: string, used: Used): void;
  /** Resolves when core has taken everything, or does not in time: it charges then by itself. */
  close(): Promise<void>;
}

const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 30_000;
/** By then core has charged the reservation in full. It corrects that for a day. */
const GIVE_UP_MS = 3_600_000;
const CLOSING_MS = 4_000;
/** Well before a reservation ends. */
const RENEW_MS = (limits.intelligenceReservationSeconds.value * 1_000) / 3;
const MOST_RENEWED = 1_000;

export function openSettlements(core: Pick<CoreCalls, 'post'>): Settlements {
  const open = new Set<string>();
  const settling = new Set<Promise<void>>();
  const closing = new AbortController();
  let renewal: NodeJS.Timeout | null = null;

  function renew(): void {
    const reservations = [...open].slice(0, MOST_RENEWED);
    if (reservations.length === 0) return;
    // The next one is in time as well.
    core.post('/v1/gateway/intelligence/renew', { reservations }, z.undefined()).catch(() => undefined);
  }

  async function send(reservation: string, { inputTokens, outputTokens, reached }: Used): Promise<void> {
    const body = { reservation, inputTokens, outputTokens, reached };
    const begun = performance.now();
    for (let failures = 0; ; failures += 1) {
      try {
        await core.post('/v1/gateway/intelligence/settle', body, z.undefined());
        return;
      } catch (error) {
        const isOver = performance.now() - begun > (closing.signal.aborted ? CLOSING_MS : GIVE_UP_MS);
        // The credential of this Gateway has ended, or the app is gone.
        if (!(error instanceof CoreRefusal) || error.refusal.code === 'unauthenticated' || isOver) return;
        await pause(
          Math.min(FIRST_RETRY_MS * 2 ** failures, closing.signal.aborted ? FIRST_RETRY_MS : LONGEST_RETRY_MS),
        );
      }
    }
  }

  /** Shorter when the Gateway closes. */
  function pause(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        closing.signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, milliseconds);
      if (!closing.signal.aborted) closing.signal.addEventListener('abort', done);
    });
  }

  return {
    open(reservation) {
      open.add(reservation);
      renewal ??= setInterval(renew, RENEW_MS).unref();
    },
    settle(reservation, used) {
      open.delete(reservation);
      if (open.size === 0 && renewal !== null) {
        clearInterval(renewal);
        renewal = null;
      }
      const sending = send(reservation, used).finally(() => settling.delete(sending));
      settling.add(sending);
    },
    async close() {
      if (renewal !== null) clearInterval(renewal);
      closing.abort();
      const late = Promise.withResolvers<void>();
      const timer = setTimeout(late.resolve, CLOSING_MS);
      await Promise.race([Promise.all(settling), late.promise]);
      clearTimeout(timer);
    },
  };
}
