// Transactions of changes that have consequences elsewhere: what cannot be rolled back, such as a call to a node, or is
// worth waiting for once others can see the change, is collected in the transaction and awaited after its commit.
import type { Transaction } from 'kysely';
import type { CoreContext } from '../context.ts';
import type { Moment } from '../points.ts';
import type { DatabaseSchema } from './schema.ts';

/** A transaction that was begun by {@link changing}. */
export type Changing = Transaction<DatabaseSchema> & {
  /** Does this when the transaction has committed, and never when it has not. The change is answered when it resolves. */
  afterCommit(work: () => Promise<unknown>): void;
};

/**
 * Resolves when the transaction has committed and all that it handed to `afterCommit` has been done, at the same time.
 * `work` may be begun anew (patient-dialect.ts), so it changes nothing but the database.
 *
 * @throws what `work` throws, and then nothing has changed; what fails after the commit
 */
export function changing<Result>(
  { database }: Pick<CoreContext, 'database'>,
  work: (trx: Changing) => Promise<Result>,
): Promise<Result> {
  return run(database, work, async () => undefined);
}

/** The same as {@link changing}, with the points of `moment` right before and right after the commit. */
export function changingAt<Result>(
  { database, at }: Pick<CoreContext, 'database' | 'at'>,
  moment: Moment,
  work: (trx: Changing) => Promise<Result>,
): Promise<Result> {
  const held = async (trx: Changing) => {
    const result = await work(trx);
    await at(`${moment}.committing`);
    return result;
  };
  return run(database, held, async () => at(`${moment}.committed`));
}

async function run<Result>(
  database: CoreContext['database'],
  work: (trx: Changing) => Promise<Result>,
  committed: () => Promise<void>,
): Promise<Result> {
  let afterwards: (() => Promise<unknown>)[] = [];
  const afterCommit: Changing['afterCommit'] = (later) => void afterwards.push(later);
  const result = await database.transaction().execute((trx) => {
    // Of an attempt that was rolled back nothing is left to do.
    afterwards = [];
    return work(Object.assign(trx, { afterCommit }));
  });
  await committed();
  await Promise.all(afterwards.map((later) => later()));
  return result;
}
