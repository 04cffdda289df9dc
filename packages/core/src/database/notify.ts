// Sends a signal inside the transaction whose outcome it tells: it arrives when that commits, and only then.
import { type Kysely, sql } from 'kysely';
import type { DatabaseSchema } from './schema.ts';
import { notifyStatement, SIGNAL_CHANNEL, type SignalMap, type SignalName } from './signals.ts';

export async function notify<Name extends SignalName>(
  executor: Kysely<DatabaseSchema>,
  name: Name,
  data: SignalMap[Name],
): Promise<void> {
  const { values } = notifyStatement(name, data);
  await sql`SELECT pg_notify(${values[0]}, ${values[1]})`.execute(executor);
}

/** The same signal for many, in one statement. */
export async function notifyEach<Name extends SignalName>(
  executor: Kysely<DatabaseSchema>,
  name: Name,
  all: readonly SignalMap[Name][],
): Promise<void> {
  const payloads = all.map((data) => notifyStatement(name, data).values[1]);
  await sql`SELECT pg_notify(${SIGNAL_CHANNEL}, payload) FROM unnest(${payloads}::text[]) AS payload`.execute(executor);
}
