// Claims and completions of an app that come at the same time share statements, and with them writes to the disk.
import type { InstallationId } from '@platform/contract';
import { limits } from '@platform/contract';
import type pg from 'pg';
import { Together } from '../background/together.ts';
import {
  type ActivityRow,
  type Claim,
  type ClaimedRow,
  type ClaimRules,
  claimSteps,
  type Settlement,
  settleActivities,
} from './activity-queries.ts';
import { isRefusedStatement } from './grouped-creations.ts';

/** Of one app and kind, in a replica. More at a time would each have fewer steps. */
const STATEMENTS = 1;
/** Steps that one statement claims or completes. */
const MOST_STEPS = 32;

/** By how much clocks of two replicas may differ. */
const SKEW_SECONDS = 60;
export const RESULT_BYTES = limits.workflowInput.value;

export const claimRules: ClaimRules = {
  skewSeconds: SKEW_SECONDS,
  mostEvents: limits.workflowHistory.value,
  mostActivities: limits.workflowActivities.value,
  resultBytes: RESULT_BYTES,
  mostBytes: limits.workflowStored.value,
  mostRuns: limits.workflowRuns.value,
};

export interface GroupedStatements {
  readonly claims: Together<Claim, ClaimedRow | undefined>;
  readonly settlements: Together<Settlement, ActivityRow | undefined>;
}

const ofPools = new WeakMap<pg.Pool, GroupedStatements>();

/** Those of all callers of this pool. */
export function groupedStatements(pool: pg.Pool): GroupedStatements {
  const known = ofPools.get(pool);
  if (known !== undefined) return known;
  const shape = { groups: STATEMENTS, most: MOST_STEPS, didNothing: isRefusedStatement };
  const made: GroupedStatements = {
    claims: new Together({
      ...shape,
      ownerOf: ({ installationId }: Claim) => installationId,
      keyOf: ({ workflowId }: Claim) => workflowId,
      work: (claims) => claimSteps(pool, installationOf(claims[0]), claims, claimRules),
    }),
    settlements: new Together({
      ...shape,
      ownerOf: ({ lease }: Settlement) => lease.installationId,
      keyOf: ({ lease }: Settlement) => lease.workflowId,
      work: (settlements) => settleActivities(pool, installationOf(settlements[0]?.lease), settlements, RESULT_BYTES),
    }),
  };
  ofPools.set(pool, made);
  return made;
}

/** A group is of one owner, and has a member. */
function installationOf(first: { readonly installationId: InstallationId } | undefined): InstallationId {
  if (first === undefined) throw new Error('a statement was to be made for no step');
  return first.installationId;
}
