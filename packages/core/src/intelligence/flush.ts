// Makes durable what was committed without waiting for the disk, so that nobody holds the lock of a row meanwhile.
import type pg from 'pg';

export type Flush = () => Promise<void>;

/** Resolves when everything that was committed before the call is durable. Those who wait share one write. */
export function openFlush(pool: pg.Pool): Flush {
  let running: Promise<void> = Promise.resolve();
  let next: Promise<void> | null = null;

  async function flush(former: Promise<void>): Promise<void> {
    await former.catch(() => undefined);
    next = null;
    running = write(pool);
    await running;
  }

  return () => {
    next ??= flush(running);
    return next;
  };
}

/** A commit waits for all that stands before it in the log; a message there is the least that can be committed. */
async function write(pool: pg.Pool): Promise<void> {
  await pool.query({ name: 'flush', text: "SELECT pg_logical_emit_message(true, 'platform', '')" });
}
