// The operator's commands for nodes, run on core's machine (docs/operations/nodes.md).
import { refuse } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { notify } from '../database/notify.ts';
import {
  abandonNode,
  assignmentsChanged,
  hostingLabels,
  lockPlacement,
  placeWaiting,
  vacateNode,
} from '../placement/face.ts';
import {
  boundApps,
  deleteNode,
  findNodeNamed,
  listNodeRows,
  type NamedNode,
  type NodeRow,
  remainingOn,
  setCordoned,
  updateLabels,
} from './manage-queries.ts';

export type { NodeRow } from './manage-queries.ts';

/** All nodes with what is placed on them, by name. */
export function listNodes({ database }: CoreContext): Promise<NodeRow[]> {
  return listNodeRows(database);
}

/**
 * Once this resolves, nothing new is placed on the node; what runs there keeps running. @throws RefusalError
 * `not_found`
 */
export async function cordonNode(context: CoreContext, name: string): Promise<void> {
  await changeCordon(context, name, context.clock());
}

/** @throws RefusalError `not_found` */
export async function uncordonNode(context: CoreContext, name: string): Promise<void> {
  await changeCordon(context, name, null);
}

export interface Drained {
  /** Taken from the node. */
  readonly moved: number;
  /** Apps that wait for a node with room, or for this one to say that it stopped them. */
  readonly waiting: readonly string[];
  /** Apps that stay, because their volumes lie on the node; each with its account. */
  readonly bound: readonly { readonly appId: string; readonly account: string }[];
}

/** Cordons the node and moves what may move. @throws RefusalError `not_found` */
export async function drainNode(context: CoreContext, name: string): Promise<Drained> {
  const node = await changeCordon(context, name, context.clock());
  const moved = await vacateNode(context, node.id);
  const { waiting } = await placeWaiting(context);
  return { moved, waiting, bound: await boundApps(context.database, node.id) };
}

/**
 * Removes a node: its key and its credential become invalid, and its Runtime stops its workloads once it is refused.
 *
 * @param what `empty` refuses while anything is left there; `with-volumes` gives up the volumes that lie on it: their
 *   apps begin anew on other nodes, with empty ones
 * @throws RefusalError `not_found`; `invalid_request` for core's own node, for what is left on it, and for a node that
 *   may still run something that was taken from it
 */
export async function removeNode(context: CoreContext, name: string, what: 'empty' | 'with-volumes'): Promise<void> {
  await context.database.transaction().execute(async (trx) => {
    await lockPlacement(trx);
    const node = await requireNode(trx, name);
    if (node.local && !node.leased)
      throw refuse(
        'invalid_request',
        `${name} is the machine of the platform itself. PLATFORM_LOCAL_NODE=false removes it.`,
      );
    const left = await remainingOn(trx, node.id);
    if (left.held > 0)
      throw refuse(
        'invalid_request',
        `${name} has not confirmed yet that it stopped ${left.held} moved apps. Try again soon.`,
      );
    if (left.movable > 0 && node.lost_at === null)
      throw refuse('invalid_request', `${left.movable} apps can move from ${name}. Drain it first.`);
    if (left.bound > 0 && what === 'empty')
      throw refuse(
        'invalid_request',
        `The volumes of ${left.bound} apps lie on ${name}. Remove those apps, or give their data up with --abandon-volumes.`,
      );
    await abandonNode(trx, node.id);
    await deleteNode(trx, node.id);
    await notify(trx, 'node-credential-replaced', { nodeId: node.id });
    await assignmentsChanged(trx, { context, goneNode: node.id });
  });
}

/**
 * Gives a node labels and takes some away.
 *
 * @throws RefusalError `not_found` for a node that is none; `invalid_request` for the labels that say who runs it
 */
export async function labelNode(
  context: CoreContext,
  name: string,
  { add = [], remove = [] }: { readonly add?: readonly string[]; readonly remove?: readonly string[] },
): Promise<string[]> {
  const fixed = hostingLabels.find((label) => add.includes(label) || remove.includes(label));
  if (fixed !== undefined)
    throw refuse('invalid_request', `The token that a machine joins with decides on ${fixed}, for good.`);
  return context.database.transaction().execute(async (trx) => {
    await lockPlacement(trx);
    const labels = await updateLabels(trx, name, { add, remove });
    if (labels === undefined) throw refuse('not_found', `There is no node named ${name}.`);
    return labels;
  });
}

async function changeCordon(context: CoreContext, name: string, cordonedAt: Date | null): Promise<NamedNode> {
  return context.database.transaction().execute(async (trx) => {
    // A concurrent placement has finished first.
    await lockPlacement(trx);
    const node = await requireNode(trx, name);
    await setCordoned(trx, node.id, cordonedAt);
    return node;
  });
}

async function requireNode(trx: Parameters<typeof findNodeNamed>[0], name: string): Promise<NamedNode> {
  const node = await findNodeNamed(trx, name);
  if (node === undefined) throw refuse('not_found', `There is no node named ${name}.`);
  return node;
}
