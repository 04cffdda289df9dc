// A change and what follows it: a transaction, and then whatever its statements and hooks left to be done once it cannot be
// taken back, such as waiting until nodes have ended what was revoked.
import type { Kysely, Transaction } from 'kysely';
import type { DatabaseSchema } from './schema.ts';

type Work = () => Promise<void>;

/** What follows each transaction that is under way. */
const following = new WeakMap<object, Work[]>();

/**
 * Runs `change` in a transaction, and after its commit all that was handed to {@link afterCommit} in it, at the same time.
 * Resolves when that has ended as well; a change that is rolled back is followed by nothing.
 *
 * @param committed called right after the commit, before the rest
 * @throws what `change` throws, and the first of what follows that fails
 */
export async function changing<Result>(
  { database }: { readonly database: Kysely<DatabaseSchema> },
  change: (trx: Transaction<DatabaseSchema>) => Promise<Result>,
  committed?: () => Promise<void> | undefined,
): Promise<Result> {
  const works: Work[] = [];
  const result = await database.transaction().execute((trx) => {
    following.set(trx, works);
    return change(trx);
  });
  await committed?.();
  await Promise.all(works.map((work) => work()));
  return result;
}

/** Runs `work` once the transaction has committed. @throws Error in a transaction that {@link changing} did not begin */
export function afterCommit(trx: Kysely<DatabaseSchema>, work: Work): void {
  const works = following.get(trx);
  if (works === undefined) throw new Error('only what changing() begins can be followed by more');
  works.push(work);
}
