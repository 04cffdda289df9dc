// Brings the topology up to date with what a transaction changed: which installations have a public name, which requests
// to it pass, and which node answers them. Every change of installations, grants, places and accounts comes through here,
// since all of them change assignments (placement/change-assignments.ts).
import { isDeepStrictEqual } from 'node:util';
import type { InstallationId } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import type { Executor } from '../database/schema.ts';
import { grantedRoutes } from './policy.ts';
import { newPublicLabel } from './public-label.ts';
import {
  deleteNames,
  lockTopology,
  type NamedRoute,
  type RouteInput,
  raiseTopology,
  routeInputs,
  storeComputed,
  storeNames,
  storeRoutes,
  withdrawNode,
} from './route-queries.ts';

type Context = Pick<CoreContext, 'clock' | 'random'>;

/** Whose public names a change may concern. */
export type Touched = { readonly context: Context } & (
  | {
      readonly installations: readonly InstallationId[];
      /** Their names end; they get others. Default: they keep them. */
      readonly renew?: true;
    }
  | { readonly accountKey: string }
  /** It was removed, and what ran there is on no node now. */
  | { readonly goneNode: string }
);

/**
 * Call it after the rows that it reads were changed. It locks the topology first and reads then, so that of two
 * transactions that change two things on which a route depends, the later one sees both. A transaction that also raises
 * the revision of assignments does that before.
 *
 * @returns the new revision, or `null` when no public name changed
 */
export async function routesChanged(trx: Executor, touched: Touched): Promise<bigint | null> {
  const { context } = touched;
  await lockTopology(trx);
  const inputs = await routeInputs(trx, touched);
  const renew = 'renew' in touched;
  const names = await keepNames(trx, context, inputs, renew);
  const changes = inputs.flatMap((input) => changesOf(input, names.get(input.id) ?? null));
  const goneNode = 'goneNode' in touched ? touched.goneNode : null;
  await storeComputed(trx, inputs);
  const withdrawn = goneNode !== null && (await withdrawNode(trx, goneNode, context.clock()));
  if (changes.length === 0 && !withdrawn) return null;
  const revision = await raiseTopology(trx, goneNode);
  await storeRoutes(trx, changes, { revision, now: context.clock() });
  return revision;
}

/** The label of each installation that has one now: what is installed and declares public routes, and nothing else. */
async function keepNames(
  trx: Executor,
  context: Context,
  inputs: readonly RouteInput[],
  renew: boolean,
): Promise<Map<InstallationId, string>> {
  const names = new Map<InstallationId, string>();
  const ended: InstallationId[] = [];
  const made: { installationId: InstallationId; generation: number; label: string }[] = [];
  for (const { id, generation, label, name_generation, installed, declared } of inputs) {
    const keeps = installed && (declared.length > 0 || label !== null);
    if (keeps && label !== null && name_generation === generation && !renew) {
      names.set(id, label);
      continue;
    }
    if (label !== null) ended.push(id);
    if (!keeps) continue;
    const next = newPublicLabel(context.random);
    made.push({ installationId: id, generation, label: next });
    names.set(id, next);
  }
  await deleteNames(trx, ended);
  await storeNames(trx, made);
  return names;
}

/** What differs from what the topology says of it. */
function changesOf(input: RouteInput, label: string | null): NamedRoute[] {
  const { id, app_id: appId, node_id: nodeId } = input;
  const of = { installationId: id, appId };
  const former = input.routes === null ? null : input.label;
  const routes = label === null || !input.open ? [] : grantedRoutes(input.declared, input.grants);
  const gone = (name: string): NamedRoute => ({ ...of, label: name, nodeId: null, routes: null });
  if (label === null || routes.length === 0) return former === null ? [] : [gone(former)];
  const same = former === label && input.route_node === nodeId && isDeepStrictEqual(input.routes, routes);
  if (same) return [];
  return [{ ...of, label, nodeId, routes }, ...(former === null || former === label ? [] : [gone(former)])];
}
