// How a transaction changes assignments, and who waits for it. Nodes follow the revision of assignments, Ingresses that of
// the topology; a function here raises both, and is called last in its transaction, because it takes their locks in this
// order: no reader sees a later revision before an earlier change. Which function says whether the answer waits until the
// followers have carried the change out, for two seconds at most (members/followers.ts):
//
// - `assignmentsChanged`: nobody waits. Something begins or moves, or ends without a promise to its owner about when.
// - `assignmentsRevoked`: something that was allowed is not any more. Its nodes have ended it, and every Ingress knows of a
//   changed public name.
// - `assignmentsWithdrawn`: an account pauses, an app is removed. Where it had a public name, nobody reaches it any more;
//   otherwise nobody waits, since its backends take their time to stop.
import type { CoreContext } from '../context.ts';
import type { Changing } from '../database/changing.ts';
import { notify } from '../database/notify.ts';
import type { Executor } from '../database/schema.ts';
import type { Change } from '../members/followers.ts';
import { routesChanged, type Touched } from '../topology/face.ts';
import { raiseRevision } from './queries.ts';

/** @param touched whose public names it may change; `null` for a change that concerns none */
export async function assignmentsChanged(trx: Executor, touched: Touched | null): Promise<void> {
  await raise(trx, touched);
}

/**
 * @param nodes where something ends; `null` is of an installation on none. With neither a node nor `touched`, nothing
 *   changes and nobody waits
 * @param touched as for {@link assignmentsChanged}
 */
export async function assignmentsRevoked(
  { followers }: Pick<CoreContext, 'followers'>,
  trx: Changing,
  { nodes, touched }: { readonly nodes: readonly (string | null)[]; readonly touched: Touched | null },
): Promise<void> {
  const nodeIds = [...new Set(nodes)].filter((id) => id !== null);
  if (nodeIds.length === 0 && touched === null) return;
  const change = await raise(trx, touched);
  trx.afterCommit(() => followers.allCarriedOut({ nodeIds, ...change }));
}

/** @param nodes where it runs, read when it cannot move any more */
export async function assignmentsWithdrawn(
  { followers }: Pick<CoreContext, 'followers'>,
  trx: Changing,
  { touched, nodes }: { readonly touched: Touched; readonly nodes: () => Promise<readonly string[]> },
): Promise<void> {
  const change = await raise(trx, touched);
  if (change.topology === null) return;
  const nodeIds = await nodes();
  trx.afterCommit(() => followers.allCarriedOut({ nodeIds, ...change }));
}

async function raise(trx: Executor, touched: Touched | null): Promise<Omit<Change, 'nodeIds'>> {
  const revision = await raiseRevision(trx);
  await notify(trx, 'assignments-changed', {});
  return { revision, topology: touched === null ? null : await routesChanged(trx, touched) };
}
