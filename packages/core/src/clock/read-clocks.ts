// What the clocks say, for the operator who looks.
import type { Executor } from '../database/schema.ts';
import { readRecord } from './queries.ts';

export interface Clocks {
  /** PostgreSQL's clock is ahead of this machine's by so much; negative for one that is behind. */
  readonly databaseAheadMilliseconds: number;
  /** The newest time that any core read; `null` before the first. */
  readonly newest: Date | null;
}

export async function readClocks(db: Executor, clock: () => Date): Promise<Clocks> {
  const asked = clock().getTime();
  const { database, newest } = await readRecord(db, '');
  return { databaseAheadMilliseconds: database.getTime() - (asked + clock().getTime()) / 2, newest };
}
