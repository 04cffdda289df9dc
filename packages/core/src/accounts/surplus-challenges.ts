// Bounds the table of challenges, which anybody can make grow: a limit per address does not bound all addresses together.
import { limits } from '@platform/contract';
import { PeriodicTask } from '../background/periodic-task.ts';
import type { CoreContext } from '../context.ts';
import { removeSurplusChallenges } from './queries.ts';

const PERIOD_MILLISECONDS = 60_000;
const BATCH = 1_000;

export function surplusChallenges(context: CoreContext): PeriodicTask {
  const piece = () => removeSomeChallenges(context, limits.challenges.value);
  return new PeriodicTask(context, { name: 'surplus-challenges', everyMilliseconds: PERIOD_MILLISECONDS, piece });
}

/** @returns whether there may be more to remove */
export async function removeSomeChallenges(
  { database, clock }: Pick<CoreContext, 'database' | 'clock'>,
  kept: number,
): Promise<boolean> {
  return (await removeSurplusChallenges(database, { now: clock(), kept, atMost: BATCH })) > 0;
}
