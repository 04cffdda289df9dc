// How a transaction changes assignments, and who waits for it. Nodes follow the revision of assignments, Ingresses that of
// the topology; a function here raises both, and is called last in its transaction, because it takes their locks in this
// order: no reader sees a later revision before an earlier change. Which function says whether the answer waits until the
// followers have carried the change out, for two seconds at most (members/followers.ts):
//
// - `assignmentsChanged`: nobody waits. Something begins or moves, or ends without a promise to its owner about when.
// - `assignmentsRevoked`: something that was allowed is not any more, up to everything when an account pauses or an app is
//   removed. Its nodes have ended it, though not the backends that stop for it, and every Ingress knows of a changed public
//   name.
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
 * @param nodes where something ends; `null` is of an installation on none. A function is called when nothing can move any more.
 *   With neither a node nor `touched`, nothing changes and nobody waits
 * @param touched as for {@link assignmentsChanged}
 */
export async function assignmentsRevoked(
  { followers }: Pick<CoreContext, 'followers'>,
  trx: Changing,
  { nodes, touched }: { readonly nodes: Nodes | (() => Promise<Nodes>); readonly touched: Touched | null },
): Promise<void> {
  if (touched === null && Array.isArray(nodes) && nodes.every((id) => id === null)) return;
  const change = await raise(trx, touched);
  const found = typeof nodes === 'function' ? await nodes() : nodes;
  const nodeIds = [...new Set(found)].filter((id) => id !== null);
  trx.afterCommit(() => followers.allCarriedOut({ nodeIds, ...change }));
}

type Nodes = readonly (string | null)[];

async function raise(trx: Executor, touched: Touched | null): Promise<Omit<Change, 'nodeIds'>> {
  const revision = await raiseRevision(trx);
  await notify(trx, 'assignments-changed', {});
  return { revision, topology: touched === null ? null : await routesChanged(trx, touched) };
}
