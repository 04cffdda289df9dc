// The operator's placement rules: labels that the nodes of certain backends must have, and labels that reserve a node
// for them. Rules apply to later placements; what is already placed stays.
import { refuse } from '@platform/contract';
import { findAccount } from '../accounts/face.ts';
import type { CoreContext } from '../context.ts';
import { lockPlacement } from './placement.ts';
import {
  deleteReservedLabel,
  deleteRule,
  insertReservedLabel,
  insertRule,
  type ReservedLabelRow,
  type RuleRow,
  selectReservedLabels,
  selectRules,
} from './placement-rule-queries.ts';

export type { ReservedLabelRow, RuleRow } from './placement-rule-queries.ts';

/** Whose backends a rule is about: of an account, an app, or an app of an account. */
export interface RuleSubject {
  readonly account: string | null;
  readonly appId: string | null;
}

/** By label, account and app. */
export function listRules({ database }: Pick<CoreContext, 'database'>): Promise<RuleRow[]> {
  return selectRules(database);
}

/** A rule that is there already stays. @throws RefusalError `not_found` for an account that is none */
export async function addRule(context: CoreContext, label: string, subject: RuleSubject): Promise<void> {
  await change(context, subject, (trx, of) => insertRule(trx, label, of));
}

/** @throws RefusalError `not_found` when there is no such rule */
export async function removeRule(context: CoreContext, label: string, subject: RuleSubject): Promise<void> {
  await change(context, subject, async (trx, of) => {
    if (!(await deleteRule(trx, label, of))) throw refuse('not_found', 'There is no such rule.');
  });
}

/** By label. */
export function listReservedLabels({ database }: Pick<CoreContext, 'database'>): Promise<ReservedLabelRow[]> {
  return selectReservedLabels(database);
}

/** Nodes that have the label, now or later, take no other backends than those it is demanded of. May be repeated. */
export async function reserveLabel({ database }: CoreContext, label: string): Promise<void> {
  await database.transaction().execute(async (trx) => {
    await lockPlacement(trx);
    await insertReservedLabel(trx, label);
  });
}

/** @throws RefusalError `not_found` when the label is not reserved */
export async function unreserveLabel({ database }: CoreContext, label: string): Promise<void> {
  await database.transaction().execute(async (trx) => {
    await lockPlacement(trx);
    if (!(await deleteReservedLabel(trx, label))) throw refuse('not_found', `The label ${label} is not reserved.`);
  });
}

async function change(
  context: CoreContext,
  { account, appId }: RuleSubject,
  work: (
    trx: Parameters<typeof insertRule>[0],
    of: { readonly accountKey: string | null; readonly appId: string | null },
  ) => Promise<void>,
): Promise<void> {
  const owner = account === null ? null : await findAccount(context, account);
  if (owner === undefined) throw refuse('not_found', `There is no account named ${account}.`);
  await context.database.transaction().execute(async (trx) => {
    // A concurrent placement has finished first.
    await lockPlacement(trx);
    await work(trx, { accountKey: owner?.key ?? null, appId });
  });
}
