// Sends a signal inside the transaction that it reports: it is delivered when that commits, and only then.
import { type Kysely, type RawBuilder, sql } from 'kysely';
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

/** Sends a signal of one name once for each element, in one statement. */
export async function notifyEach<Name extends SignalName>(
  executor: Kysely<DatabaseSchema>,
  name: Name,
  all: readonly SignalMap[Name][],
): Promise<void> {
  const payloads = all.map((data) => notifyStatement(name, data).values[1]);
  await sql`SELECT pg_notify(${SIGNAL_CHANNEL}, payload) FROM unnest(${payloads}::text[]) AS payload`.execute(executor);
}

/**
 * The call that sends a signal from within another statement.
 *
 * @param data an expression of SQL for each member of the signal's data
 */
export function notifyCall<Name extends SignalName>(
  name: Name,
  data: Record<keyof SignalMap[Name] & string, RawBuilder<unknown>>,
): RawBuilder<unknown> {
  const members = Object.entries<RawBuilder<unknown>>(data).flatMap(([member, value]) => [sql.lit(member), value]);
  const payload = sql`json_build_object('name', ${sql.lit(name)}, 'data', json_build_object(${sql.join(members)}))`;
  return sql`pg_notify(${sql.lit(SIGNAL_CHANNEL)}, ${payload}::text)`;
}
