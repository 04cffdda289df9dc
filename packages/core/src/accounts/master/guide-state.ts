// To whom the shell shows the guide for operators: to the master account, and before there is one to the first account.
import type { CoreContext } from '../../context.ts';
import { masterName } from './master-account.ts';
import { selectGuideState, updateGuideDismissed } from './master-queries.ts';

export interface GuideState {
  /** `first`: nobody looks after the platform, and no account is older. */
  readonly standing: 'operator' | 'first' | 'none';
  readonly dismissed: boolean;
}

/** What the shell shows the account of the guide. */
export async function readGuideState(
  context: Pick<CoreContext, 'database' | 'config'>,
  account: { readonly accountKey: string; readonly accountName: string },
): Promise<GuideState> {
  const master = await masterName(context);
  const { first, dismissed } = await selectGuideState(context.database, account.accountKey);
  if (master === account.accountName) return { standing: 'operator', dismissed };
  return { standing: master === null && first ? 'first' : 'none', dismissed };
}

/** The account does not want to see it at home any more. */
export async function dismissGuide({ database, clock }: Pick<CoreContext, 'database' | 'clock'>, accountKey: string) {
  await updateGuideDismissed(database, accountKey, clock());
}
