// Workflow runs: created or recovered by their identity, read, ended. The service keeps them; the app runs them.
import {
  type CompleteWorkflow,
  limits,
  refuse,
  type WorkflowId,
  type WorkflowRun,
  type WorkflowStatus,
  workflowId,
} from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { newId } from '../credentials/ids.ts';
import { groupedCreations } from './grouped-creations.ts';
import { deleteEndedRun, endRun, findRun, type RunIdentity, type RunRow } from './run-queries.ts';
import { type StoredJson, storedJson } from './stored-json.ts';

type InstallationId = RunIdentity['installationId'];

const DAY_MILLISECONDS = 86_400_000;

/**
 * @throws RefusalError `workflow_conflict` for an identity with another input, `workflow_run_limit`,
 *   `workflow_input_too_large`, `not_found` when the app was just removed
 */
export async function createRun(
  context: CoreContext,
  installationId: InstallationId,
  requested: {
    readonly definition: string;
    readonly version: number;
    readonly idempotencyKey: string;
    readonly input: unknown;
    readonly durationSeconds: number;
  },
): Promise<{ readonly run: WorkflowRun; readonly created: boolean }> {
  const { definition, version, idempotencyKey, durationSeconds } = requested;
  const input = storedInput(requested.input);
  const now = context.clock();
  await context.at('workflows.create.committing');
  const made = await groupedCreations(context.pool).add({
    installationId,
    definition,
    version,
    idempotencyKey,
    id: workflowId.parse(newId('wf', context)),
    input: input.text,
    inputHash: input.hash,
    bytes: input.bytes,
    now,
    expiresAt: new Date(now.getTime() + durationSeconds * 1_000),
  });
  await context.at('workflows.create.committed');
  if (made === undefined) throw refuse('unavailable', 'The run was removed at this moment. Repeat the call.');
  const { row, created } = made;
  return { run: created ? runOf(row, now) : recovered(row, input, now), created };
}

function recovered(row: RunRow, input: StoredJson, now: Date): WorkflowRun {
  if (row.input_hash.equals(input.hash)) return runOf(row, now);
  throw refuse(
    'workflow_conflict',
    `The run "${row.idempotency_key}" of ${row.definition} version ${row.version} has a different input. Use another idempotency key, or the first input.`,
  );
}

/** @throws RefusalError `workflow_input_too_large` */
export function storedInput(value: unknown): StoredJson {
  return storedJson(value, { most: limits.workflowInput.value, code: 'workflow_input_too_large', what: 'The input' });
}

/** @throws RefusalError `not_found` */
export async function readRun(
  context: CoreContext,
  installationId: InstallationId,
  id: WorkflowId,
): Promise<WorkflowRun> {
  return runOf(await requireRun(context, installationId, id), context.clock());
}

/** @throws RefusalError `not_found` */
export async function requireRun(
  { pool, clock }: CoreContext,
  installationId: InstallationId,
  id: WorkflowId,
): Promise<RunRow> {
  const row = await findRun(pool, installationId, id, clock());
  if (row === undefined) throw refuse('not_found', 'There is no such workflow run, or it was removed.');
  return row;
}

/** Cancels a running run, removes one that ended. @throws RefusalError `not_found` */
export async function deleteRun(context: CoreContext, installationId: InstallationId, id: WorkflowId): Promise<void> {
  const now = context.clock();
  await context.at('workflows.cancel.committing');
  const end = { id, installationId, now, cleanupAt: keptUntil(now), result: null, error: null };
  const cancelled = await endRun(context.pool, { ...end, status: 'cancelled' });
  await context.at('workflows.cancel.committed');
  if (cancelled !== undefined) return;
  await context.at('workflows.remove.committing');
  const removed = await deleteEndedRun(context.database, { id, installationId, now });
  await context.at('workflows.remove.committed');
  if (!removed) throw refuse('not_found', 'There is no such workflow run, or it was removed.');
}

/**
 * Ends a run. Doing so again in the same way answers the same.
 *
 * @throws RefusalError `not_found`, `workflow_not_running`, `workflow_result_too_large`
 */
export async function completeRun(
  context: CoreContext,
  { installationId, id }: { readonly installationId: InstallationId; readonly id: WorkflowId },
  end: CompleteWorkflow,
): Promise<WorkflowRun> {
  const result = end.status === 'completed' ? storedResult(end.result) : null;
  const error = end.status === 'failed' ? end.error : null;
  const now = context.clock();
  await context.at('workflows.complete.committing');
  const ended = await endRun(context.pool, {
    id,
    installationId,
    now,
    cleanupAt: keptUntil(now),
    status: end.status,
    result,
    error,
  });
  await context.at('workflows.complete.committed');
  if (ended !== undefined) return runOf(ended, now);
  const row = await requireRun(context, installationId, id);
  const isSame =
    row.status === end.status &&
    (result === null
      ? row.error?.message === error?.message && row.error?.code === error?.code
      : row.result_hash?.equals(result.hash) === true);
  if (!isSame) throw notRunning(statusOf(row, now));
  return runOf(row, now);
}

function storedResult(value: unknown): StoredJson {
  const most = limits.workflowResult.value;
  return storedJson(value ?? null, { most, code: 'workflow_result_too_large', what: 'The result' });
}

export function notRunning(status: WorkflowStatus): Error {
  const how: Record<Exclude<WorkflowStatus, 'running'>, string> = {
    completed: 'has completed',
    failed: 'failed',
    cancelled: 'was cancelled',
    expired: 'expired',
  };
  return refuse('workflow_not_running', status === 'running' ? undefined : `The workflow run ${how[status]}.`);
}

export function keptUntil(ended: Date): Date {
  return new Date(ended.getTime() + limits.workflowKeptDays.value * DAY_MILLISECONDS);
}

/** What holds at this time, whether or not the expiry is written down yet. */
export function statusOf(run: Pick<RunRow, 'status' | 'expires_at'>, now: Date): WorkflowStatus {
  return run.status === 'running' && run.expires_at <= now ? 'expired' : run.status;
}

/** When it ended, and until when it is kept. */
export function endOf(
  run: Pick<RunRow, 'status' | 'expires_at' | 'completed_at' | 'cleanup_at'>,
  now: Date,
): { readonly completedAt: string | null; readonly cleanupAt: string | null } {
  const isDue = run.status === 'running' && run.expires_at <= now;
  const completedAt = isDue ? run.expires_at : run.completed_at;
  const cleanupAt = isDue ? keptUntil(run.expires_at) : run.cleanup_at;
  return { completedAt: completedAt?.toISOString() ?? null, cleanupAt: cleanupAt?.toISOString() ?? null };
}

export function runOf(row: RunRow, now: Date): WorkflowRun {
  return {
    id: row.id,
    definition: row.definition,
    version: row.version,
    idempotencyKey: row.idempotency_key,
    status: statusOf(row, now),
    input: JSON.parse(row.input),
    result: row.result === null ? null : JSON.parse(row.result),
    error: row.error,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
    ...endOf(row, now),
  };
}
