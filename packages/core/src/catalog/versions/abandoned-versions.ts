// Versions whose publisher's account was deleted: they stay for those who have them installed, and go with the last of these.
import { PeriodicTask } from '../../background/periodic-task.ts';
import type { CoreContext } from '../../context.ts';
import { selectAbandoned } from './withdraw-queries.ts';
import { withdrawVersion } from './withdraw-version.ts';

const AT_ONCE = 50;
const HOUR_MILLISECONDS = 3_600_000;

/** @returns whether there may be more */
export async function withdrawAbandoned(context: CoreContext): Promise<boolean> {
  const abandoned = await selectAbandoned(context.database, { proven: context.time.proven(), atMost: AT_ONCE });
  let withdrawn = 0;
  for (const { appId, version } of abandoned) if (await withdrawVersion(context, appId, version)) withdrawn += 1;
  return withdrawn === AT_ONCE;
}

export function withdrawingAbandoned(context: CoreContext): PeriodicTask {
  return new PeriodicTask(context, {
    name: 'withdraw-abandoned-versions',
    everyMilliseconds: HOUR_MILLISECONDS,
    piece: () => withdrawAbandoned(context),
  });
}
