// Lists of runs and what happened in them: for the app with inputs and results, for its owner in structure and sizes.
import {
  type ActivitySummary,
  type InstallationId,
  limits,
  type RouteQuery,
  refuse,
  type WorkflowEvent,
  type WorkflowId,
  type WorkflowRun,
  type WorkflowSummary,
  type WorkflowTimeline,
} from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { selectOwn } from '../installations/face.ts';
import { selectTimeline, type TimelineRow } from './activity-queries.ts';
import { writeExpiries } from './housekeeping.ts';
import {
  type EventRow,
  type RunSelection,
  type SummaryRow,
  selectEvents,
  selectNewestEvents,
  selectRuns,
  selectSummaries,
  selectSummary,
} from './run-queries.ts';
import { endOf, requireRun, runOf, statusOf } from './runs.ts';

interface Page<Item> {
  items: Item[];
  nextCursor: string | null;
}

type Query = RouteQuery<'services.workflows.list'>;

/** A page ends early when its inputs and results are many. */
export async function listRuns(
  context: CoreContext,
  installationId: InstallationId,
  query: Query,
): Promise<Page<WorkflowRun>> {
  const now = context.clock();
  const { name, selection } = selectionOf(context, installationId, query, now);
  const bytes = limits.workflowPage.value;
  const { rows, more } = await selectRuns(context.database, installationId, { ...selection, bytes });
  return { items: rows.map((row) => runOf(row, now)), nextCursor: more ? after(context, name, rows.at(-1)?.id) : null };
}

/** @throws RefusalError `not_found` for an app that the account has not installed */
export async function listOwnRuns(
  context: CoreContext,
  own: { readonly accountKey: string; readonly appId: string },
  query: Query,
): Promise<Page<WorkflowSummary>> {
  const installationId = await requireOwn(context, own);
  const now = context.clock();
  const { name, selection } = selectionOf(context, installationId, query, now);
  const rows = await selectSummaries(context.database, installationId, { ...selection, limit: query.limit + 1 });
  const page = rows.slice(0, query.limit);
  const nextCursor = rows.length > page.length ? after(context, name, page.at(-1)?.id) : null;
  return { items: page.map((row) => summaryOf(row, now)), nextCursor };
}

function selectionOf(
  context: CoreContext,
  installationId: InstallationId,
  { status, definition, limit, cursor }: Query,
  now: Date,
): { readonly name: string; readonly selection: RunSelection } {
  const name = `workflows:${installationId}:${status ?? ''}:${definition ?? ''}`;
  const before = cursor === undefined ? undefined : String(context.cursors.decode(name, cursor));
  return { name, selection: { status, definition, before, limit, now } };
}

function after({ cursors }: CoreContext, name: string, position: string | number | undefined): string | null {
  return position === undefined ? null : cursors.encode(name, position);
}

/** @throws RefusalError `not_found` */
export async function readHistory(
  context: CoreContext,
  { installationId, workflowId }: { readonly installationId: InstallationId; readonly workflowId: WorkflowId },
  { limit, cursor }: RouteQuery<'services.workflows.history'>,
): Promise<Page<WorkflowEvent>> {
  const name = `workflow-history:${workflowId}`;
  const position = cursor === undefined ? 0 : Number(context.cursors.decode(name, cursor));
  const run = await requireRun(context, installationId, workflowId);
  await noteExpiry(context, run);
  const rows = await selectEvents(context.database, workflowId, { after: position, limit: limit + 1 });
  const page = rows.slice(0, limit);
  const nextCursor = rows.length > page.length ? after(context, name, page.at(-1)?.sequence) : null;
  return { items: page.map(eventOf), nextCursor };
}

/** @throws RefusalError `not_found` */
export async function readTimeline(
  context: CoreContext,
  own: { readonly accountKey: string; readonly appId: string },
  id: WorkflowId,
): Promise<WorkflowTimeline> {
  const installationId = await requireOwn(context, own);
  const found = await selectSummary(context.database, installationId, id, context.clock());
  if (found === undefined) throw refuse('not_found', 'There is no such workflow run, or it was removed.');
  await noteExpiry(context, found);
  const now = context.clock();
  const activities = await selectTimeline(context.database, id);
  const events = await selectNewestEvents(context.database, id, limits.pageMaximum.value);
  return {
    run: summaryOf(found, now),
    activities: activities.map((row) => activityOf(row, now)),
    events: events.map(eventOf),
  };
}

/** The history of a run that just expired says so at once. */
async function noteExpiry(context: CoreContext, run: Pick<SummaryRow, 'id' | 'status' | 'expires_at'>): Promise<void> {
  const proven = context.time.proven();
  if (run.status !== 'running' || run.expires_at > proven) return;
  await writeExpiries(context, { id: run.id, proven, most: 1 });
}

async function requireOwn(
  { database }: CoreContext,
  { accountKey, appId }: { readonly accountKey: string; readonly appId: string },
): Promise<InstallationId> {
  const own = await selectOwn(database, accountKey, appId);
  if (own === undefined) throw refuse('not_found');
  return own.id;
}

function summaryOf(row: SummaryRow, now: Date): WorkflowSummary {
  return {
    id: row.id,
    definition: row.definition,
    version: row.version,
    idempotencyKey: row.idempotency_key,
    status: statusOf(row, now),
    error: row.error,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
    completedAt: endOf(row, now).completedAt,
    activities: row.activities,
    inputBytes: row.input_bytes,
    resultBytes: row.result_bytes,
  };
}

function activityOf(row: TimelineRow, now: Date): ActivitySummary {
  return {
    id: row.id,
    step: row.step,
    name: row.name,
    attempt: row.attempt,
    state: stateOf(row, now),
    inputBytes: row.input_bytes,
    resultBytes: row.result_bytes,
    createdAt: row.created_at.toISOString(),
    leaseExpiresAt: row.lease_expires_at?.toISOString() ?? null,
    completedAt: row.completed_at?.toISOString() ?? null,
  };
}

function stateOf(row: TimelineRow, now: Date): ActivitySummary['state'] {
  if (row.completed_at !== null) return 'completed';
  if (row.lease_expires_at === null) return 'failed';
  return row.lease_expires_at <= now ? 'lease-expired' : 'claimed';
}

function eventOf({ sequence, at, event, step, activity_id, attempt }: EventRow): WorkflowEvent {
  return {
    sequence,
    at: at.toISOString(),
    event,
    ...(step === null ? {} : { step }),
    ...(activity_id === null ? {} : { activityId: activity_id }),
    ...(attempt === null ? {} : { attempt }),
  };
}
