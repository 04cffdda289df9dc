// The plan of an account: what it is entitled to beyond what everybody has. The operator sets it.
import type { CoreContext } from '../context.ts';
import type { Settings } from '../settings/settings.ts';
import { updatePlan } from './queries.ts';

/** All plans, the smallest first. */
export const plans = ['free', 'paid'] as const;
/** What an account is entitled to. */
export type Plan = (typeof plans)[number];

/** @param own what the operator set for the account; `null` for nothing */
export function planOf({ defaultPlan }: Pick<Settings, 'defaultPlan'>, own: Plan | null): Plan {
  return own ?? defaultPlan.value;
}

/** Backends that get or lose a service by it are started anew. @param plan `null` for the default of the platform */
export async function setPlan(context: CoreContext, accountKey: string, plan: Plan | null): Promise<void> {
  await context.database.transaction().execute(async (trx) => {
    if (await updatePlan(trx, accountKey, plan)) await context.lifecycle.planChanged(trx, accountKey);
  });
}
