// The tables as TypeScript sees them, and who owns which; the truth is in migrations/. Each domain adds its own in its
// tables.ts, and tests/structure/core-tables.test.ts proves that its SQL touches no others.
import type { ColumnType, JSONColumnType, Kysely } from 'kysely';

// biome-ignore lint/suspicious/noEmptyInterface: every tables.ts adds to it
export interface DatabaseSchema {}

/** The database, or a transaction on it. */
export type Executor = Kysely<DatabaseSchema>;

export type Bigint = ColumnType<string, number | string | bigint, number | string | bigint>;
export type Json<T> = JSONColumnType<T & object, string, string>;
export type NullableJson<T> = ColumnType<T | null, string | null, string | null>;

/** By the name of the table. */
export type OwnedTables = Readonly<Record<string, Ownership>>;

/** By the name of the view: what it shows of its owner's tables to the statements of other domains. */
export type OwnedViews = Readonly<Record<string, string>>;

interface Ownership {
  /** Columns that another domain may set, by that domain. */
  readonly columnsOf?: Readonly<Record<string, readonly string[]>>;
}
