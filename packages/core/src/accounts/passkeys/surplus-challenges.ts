// Bounds the table of challenges, which anybody can make grow: a limit per address does not bound all addresses together.

import { limits } from '@platform/contract';
import { PeriodicTask } from '../../background/periodic-task.ts';
import type { ProvenTime } from '../../clock/clock-guard.ts';
import type { CoreContext } from '../../context.ts';
import { removeSurplusChallenges } from '../queries.ts';

const PERIOD_MILLISECONDS = 60_000;
const BATCH = 1_000;

export function surplusChallenges(context: CoreContext): PeriodicTask {
  const piece = (proven: ProvenTime) => removeSomeChallenges(context, limits.challenges.value, proven);
  return new PeriodicTask(context, { name: 'surplus-challenges', everyMilliseconds: PERIOD_MILLISECONDS, piece });
}

/** @returns whether there may be more to remove */
export async function removeSomeChallenges(
  { database }: Pick<CoreContext, 'database'>,
  kept: number,
  proven: ProvenTime,
): Promise<boolean> {
  return (await removeSurplusChallenges(database, { proven, kept, atMost: BATCH })) > 0;
}
