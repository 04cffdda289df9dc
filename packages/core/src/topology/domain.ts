// The topology of public names. It has no routes of its own: Ingresses follow it (ingress/), and every change of
// assignments brings it up to date (placement/change-assignments.ts).

import { limits } from '@platform/contract';
import { PeriodicTask } from '../background/periodic-task.ts';
import { earlier, type ProvenTime } from '../clock/clock-guard.ts';
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { publicPolicy } from './policy.ts';
import { forgetDeletions } from './route-queries.ts';

const AT_ONCE = 1_000;

export function topologyDomain(context: CoreContext): Domain<never> {
  const forgetting = new PeriodicTask(context, {
    name: 'forget-public-names',
    everyMilliseconds: 600_000,
    piece: (proven) => forgetNames(context, proven),
  });
  return { handlers: {}, workers: [forgetting], policy: publicPolicy(context) };
}

/** Forgets names that are gone for longer than `limits.topologyMemory`. @returns whether there may be more */
export function forgetNames({ database }: Pick<CoreContext, 'database'>, proven: ProvenTime): Promise<boolean> {
  const until = earlier(proven, limits.topologyMemory.value * 1_000);
  return forgetDeletions(database, until, AT_ONCE);
}
