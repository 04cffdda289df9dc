// Activities: a step of a run is claimed by one process at a time, and completed once. A process that claims a
// completed step gets its result.
import { hash } from 'node:crypto';
import {
  type ActivityId,
  activityId,
  type ClaimAnswer,
  type CompleteActivity,
  type InstallationId,
  limits,
  refuse,
  type WorkflowActivity,
  type WorkflowId,
} from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { newId } from '../credentials/ids.ts';
import {
  type ActivityRow,
  type Claim,
  findActivity,
  findActivityOfStep,
  type HeldLease,
  renewLease,
} from './activity-queries.ts';
import { noRoom } from './grouped-creations.ts';
import { claimRules, groupedStatements, RESULT_BYTES } from './grouped-statements.ts';
import { selectHeldBytes } from './run-queries.ts';
import { notRunning, requireRun, statusOf, storedInput } from './runs.ts';
import { type StoredJson, storedJson } from './stored-json.ts';

const LEASE_MILLISECONDS = limits.workflowLeaseSeconds.value * 1_000;
/** A step that could not be claimed may be free when one looks why. */
const CLAIMS = 3;

/**
 * @throws RefusalError `not_found`, `workflow_not_running`, `activity_conflict` for another name or input,
 *   `activity_leased`, `activity_limit`, `workflow_run_limit` when the running runs have no room for it,
 *   `workflow_input_too_large`
 */
export async function claimActivity(
  context: CoreContext,
  run: { readonly installationId: InstallationId; readonly workflowId: WorkflowId },
  step: string,
  {
    activity: name,
    input: value,
    leaseToken = context.random(32).toString('base64url'),
  }: { readonly activity: string; readonly input: unknown; readonly leaseToken?: string | undefined },
): Promise<ClaimAnswer> {
  const input = storedInput(value);
  for (let attempts = 1; ; attempts += 1) {
    const now = context.clock();
    const leaseExpiresAt = new Date(now.getTime() + LEASE_MILLISECONDS);
    const claim: Claim = {
      ...run,
      now,
      id: activityId.parse(newId('act', context)),
      step,
      name,
      input: input.text,
      inputHash: input.hash,
      leaseHash: hashOf(leaseToken),
      leaseExpiresAt,
    };
    await context.at('workflows.claim.committing');
    const claimed = await groupedStatements(context.pool).claims.add(claim);
    await context.at('workflows.claim.committed');
    if (claimed !== undefined) {
      const { id, attempt } = claimed;
      const activity = { id, step, name, attempt, leaseToken, leaseExpiresAt: leaseExpiresAt.toISOString() };
      return { outcome: 'claimed', activity };
    }
    const known = await knownStep(context, claim, leaseToken);
    if (known === null && attempts < CLAIMS) continue;
    if (known === null) throw leased(1);
    return known;
  }
}

/**
 * Why a step could not be claimed: its result, the lease that the same call got before, or a refusal; `null` when it could
 * be by now.
 */
async function knownStep(context: CoreContext, claim: Claim, leaseToken: string): Promise<ClaimAnswer | null> {
  const { installationId, workflowId, now } = claim;
  const run = await requireRun(context, installationId, workflowId);
  const status = statusOf(run, now);
  const row = await findActivityOfStep(context.pool, workflowId, claim.step);
  if (row !== undefined) requireSame(row, claim);
  if (row?.result != null) {
    const { id, step, name, attempt, result } = row;
    return { outcome: 'completed', activity: { id, step, name, attempt, result: JSON.parse(result) } };
  }
  if (status !== 'running') throw notRunning(status);
  const latestLease = claim.leaseExpiresAt.getTime() + claimRules.skewSeconds * 1_000;
  if (row?.lease_expires_at != null && row.lease_expires_at > now && row.lease_expires_at.getTime() <= latestLease) {
    if (row.lease_hash.equals(claim.leaseHash)) {
      const { id, step, name, attempt } = row;
      const leaseExpiresAt = row.lease_expires_at.toISOString();
      return { outcome: 'claimed', activity: { id, step, name, attempt, leaseToken, leaseExpiresAt } };
    }
    throw leased(Math.ceil((row.lease_expires_at.getTime() - now.getTime()) / 1_000));
  }
  const isFull = row === undefined && run.activities >= limits.workflowActivities.value;
  if (isFull || run.last_sequence >= limits.workflowHistory.value) throw refuse('activity_limit');
  const wanted = row === undefined ? Buffer.byteLength(claim.input) + RESULT_BYTES : -claimRules.mostBytes;
  if ((await selectHeldBytes(context.pool, installationId)) + wanted > claimRules.mostBytes) throw noRoom();
  return null;
}

function requireSame(row: ActivityRow, { step, name, inputHash }: Claim): void {
  if (row.name !== name)
    throw refuse(
      'activity_conflict',
      `Step "${step}" of this run is the activity "${row.name}", not "${name}". A step keeps its activity and input for the whole run.`,
    );
  if (!row.input_hash.equals(inputHash))
    throw refuse(
      'activity_conflict',
      `Step "${step}" of this run was claimed with a different input. What may change between two executions belongs into an activity.`,
    );
}

function leased(seconds: number): Error {
  return refuse('activity_leased', undefined, { retryAfter: Math.max(1, seconds) });
}

/** @throws RefusalError `not_found`, `workflow_not_running`, `lease_lost` */
export async function renewActivity(
  context: CoreContext,
  activity: ActivityOfRun,
  leaseToken: string,
): Promise<WorkflowActivity> {
  const lease = heldLease(context, activity, leaseToken);
  await context.at('workflows.renew.committing');
  const renewed = await renewLease(context.pool, lease, new Date(lease.now.getTime() + LEASE_MILLISECONDS));
  await context.at('workflows.renew.committed');
  if (renewed !== undefined) return activityOf({ ...renewed, result: null });
  const { status } = await knownActivity(context, lease);
  throw status === 'running' ? refuse('lease_lost') : notRunning(status);
}

export interface ActivityOfRun {
  readonly installationId: InstallationId;
  readonly workflowId: WorkflowId;
  readonly id: ActivityId;
}

/**
 * Completes an activity, or gives its step back with an error, which is not kept. Doing so again with the same lease and
 * result answers the same.
 *
 * @throws RefusalError `not_found`, `workflow_not_running`, `lease_lost`, `activity_conflict` for another result,
 *   `workflow_result_too_large`
 */
export async function completeActivity(
  context: CoreContext,
  activity: ActivityOfRun,
  end: CompleteActivity,
): Promise<WorkflowActivity> {
  const result = 'result' in end ? storedResult(end.result) : null;
  const lease = heldLease(context, activity, end.leaseToken);
  await context.at('workflows.settle.committing');
  const settled = await groupedStatements(context.pool).settlements.add({ lease, result });
  await context.at('workflows.settle.committed');
  if (settled !== undefined) return activityOf(settled);
  const { row, status } = await knownActivity(context, lease);
  const isHolder = row.lease_hash.equals(lease.leaseHash);
  if (isHolder && isSameEnd(row, result)) return activityOf(row);
  if (isHolder && row.result !== null && result !== null)
    throw refuse('activity_conflict', `Step "${row.step}" was completed with a different result.`);
  throw status === 'running' ? refuse('lease_lost') : notRunning(status);
}

function isSameEnd(row: ActivityRow, result: StoredJson | null): boolean {
  if (result === null) return row.result === null && row.lease_expires_at === null;
  return row.result_hash?.equals(result.hash) === true;
}

function storedResult(value: unknown): StoredJson {
  return storedJson(value, {
    most: RESULT_BYTES,
    code: 'workflow_result_too_large',
    what: 'The result of the activity',
  });
}

function heldLease({ clock }: CoreContext, activity: ActivityOfRun, leaseToken: string): HeldLease {
  return { ...activity, now: clock(), leaseHash: hashOf(leaseToken) };
}

async function knownActivity(context: CoreContext, { installationId, workflowId, id, now }: HeldLease) {
  const run = await requireRun(context, installationId, workflowId);
  const row = await findActivity(context.pool, workflowId, id);
  if (row === undefined) throw refuse('not_found', 'The workflow run has no such activity.');
  return { row, status: statusOf(run, now) };
}

function activityOf(
  row: Pick<ActivityRow, 'id' | 'step' | 'name' | 'attempt' | 'lease_expires_at' | 'result'>,
): WorkflowActivity {
  const { id, step, name, attempt, lease_expires_at, result } = row;
  const activity = { id, step, name, attempt, leaseExpiresAt: lease_expires_at?.toISOString() ?? null };
  return result === null ? activity : { ...activity, result: JSON.parse(result) };
}

function hashOf(leaseToken: string): Buffer {
  return hash('sha256', leaseToken, 'buffer');
}
