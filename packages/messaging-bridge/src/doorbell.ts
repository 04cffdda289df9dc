// When accounts are looked after: whenever the homeserver rings, which says that there is something and not all of it; at a
// start, because what came while the bridge was away is not rung for; and now and then, in case a ring was lost.
import * as z from 'zod';
import type { Accounts } from './accounts/accounts.ts';
import { openDirty } from './accounts/dirty.ts';
import type { Log } from './log.ts';
import type { BridgeMetrics } from './metrics-port.ts';

export interface Doorbell {
  /** Takes a transaction of the homeserver. It may come again, in part, or out of order: all it does is to have us look. */
  ring(body: unknown): void;
  /** Looks after all accounts. */
  sweep(): void;
  /** Resolves when all that were rung for were looked after. */
  settled(): Promise<void>;
  /** Accounts that were rung for and not looked after yet. */
  waiting(): number;
  close(): Promise<void>;
}

/** Milliseconds between two looks at the accounts that are open, and at all. */
const OPEN_SWEEP_MS = 60_000;
const SWEEP_MS = 600_000;
/** Most milliseconds between two looks at an account that waits for what nobody rings for. */
const WAITING_MS = { keys: 1_000, rooms: OPEN_SWEEP_MS };

/** Accounts that are synced. */
const ACCOUNTS_AT_ONCE = 8;
/** Rooms of which something is fetched, each by a request that another server may let wait. */
const ROOMS_AT_ONCE = 64;

const pushedEvent = z.object({
  room_id: z.string().optional().catch(undefined),
  sender: z.string().optional().catch(undefined),
  state_key: z.string().optional().catch(undefined),
});
const pushedReceipt = z.object({ type: z.literal('m.receipt'), content: z.record(z.string(), z.unknown()) });
const receipts = z.record(z.string(), z.record(z.string(), z.unknown()));
const transaction = z.object({
  events: z.array(z.unknown()).catch([]),
  /** What is no event of a room, such as receipts (Matrix 1.13). */
  ephemeral: z.array(z.unknown()).catch([]),
});

/** Who has read something, which of an account is news for its other devices. */
function readersOf(ephemeral: readonly unknown[]): string[] {
  return ephemeral.flatMap((one) => {
    const { data } = pushedReceipt.safeParse(one);
    return Object.values(data?.content ?? {}).flatMap((kinds) =>
      Object.values(receipts.safeParse(kinds).data ?? {}).flatMap((readers) => Object.keys(readers)),
    );
  });
}

export function openDoorbell(accounts: Accounts, log: Log, metrics: BridgeMetrics): Doorbell {
  const dirty = openDirty(
    async (accountId) => {
      const started = performance.now();
      let isTaken = false;
      try {
        const waits = await accounts.refresh(accountId);
        isTaken = true;
        return waits === null ? null : WAITING_MS[waits];
      } finally {
        metrics.synced((performance.now() - started) / 1_000, isTaken);
      }
    },
    log,
    ACCOUNTS_AT_ONCE,
  );
  accounts.onWaiting(dirty.remind);
  const rooms = openDirty(
    async (name) => {
      const [accountId = '', roomId = ''] = JSON.parse(name) as string[];
      return accounts.fetchMissing(accountId, roomId);
    },
    log,
    ROOMS_AT_ONCE,
  );
  accounts.onMissing((...room) => rooms.remind(JSON.stringify(room)));
  const all = () => {
    for (const accountId of accounts.all()) dirty.mark(accountId);
  };
  const timers = [
    setInterval(() => {
      for (const accountId of accounts.open()) dirty.mark(accountId);
    }, OPEN_SWEEP_MS),
    setInterval(all, SWEEP_MS),
  ];
  for (const timer of timers) timer.unref();
  return {
    ring(body) {
      const { data } = transaction.safeParse(body);
      for (const event of data?.events ?? []) {
        const read = pushedEvent.safeParse(event);
        if (!read.success) continue;
        const { room_id, sender, state_key } = read.data;
        const ids = [accounts.idOf(sender ?? ''), accounts.idOf(state_key ?? ''), ...accounts.inRoom(room_id ?? '')];
        for (const accountId of ids) if (accountId !== undefined) dirty.mark(accountId);
      }
      for (const userId of readersOf(data?.ephemeral ?? [])) {
        const accountId = accounts.idOf(userId);
        if (accountId !== undefined) dirty.mark(accountId);
      }
    },
    sweep: all,
    settled: dirty.settled,
    waiting: dirty.waiting,
    async close() {
      for (const timer of timers) clearInterval(timer);
      await Promise.all([dirty.close(), rooms.close()]);
    },
  };
}
