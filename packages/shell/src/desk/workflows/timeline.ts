// A workflow run as bars over time, from the structure of its history: what each attempt of a step did, and when nobody
// worked on it.
import type { ActivitySummary, WorkflowEvent, WorkflowStatus, WorkflowTimeline } from '@platform/contract';

/** `lost`: its process stopped renewing its lease. `waiting`: no process worked on the step. */
export type BarKind = 'done' | 'failed' | 'lost' | 'working' | 'waiting' | 'stopped';

export interface Bar {
  readonly kind: BarKind;
  readonly from: number;
  readonly to: number;
}

export interface StepRow {
  readonly activity: ActivitySummary;
  readonly state: 'done' | 'working' | 'waiting' | 'stopped';
  readonly bars: readonly Bar[];
  /** From the first attempt to the end of the last. */
  readonly from: number;
  readonly to: number;
}

export interface Timeline {
  readonly from: number;
  readonly to: number;
  readonly steps: readonly StepRow[];
}

/** @param now for what is still going on */
export function timelineOf({ run, activities, events }: WorkflowTimeline, now: number): Timeline {
  const from = Date.parse(run.createdAt);
  // This device's clock may be behind the platform's.
  const latest = Math.max(from, Date.parse(run.updatedAt), ...events.slice(-1).map(({ at }) => Date.parse(at)));
  const to = run.completedAt === null ? Math.max(now, latest) : Date.parse(run.completedAt);
  const byActivity = Map.groupBy(events, ({ activityId }) => activityId);
  const steps = activities.map((activity) => {
    const bars = barsOf(activity, byActivity.get(activity.id) ?? [], { to, status: run.status });
    const begun = Date.parse(activity.createdAt);
    return { activity, state: stateOf(activity, run.status), bars, from: begun, to: bars.at(-1)?.to ?? begun };
  });
  return { from, to, steps };
}

function stateOf({ state }: ActivitySummary, status: WorkflowStatus): StepRow['state'] {
  if (state === 'completed') return 'done';
  if (status !== 'running') return 'stopped';
  return state === 'claimed' ? 'working' : 'waiting';
}

/** An old history is not read whole: what happened to the step before is one bar with the first that is known. */
function barsOf(
  activity: ActivitySummary,
  events: readonly WorkflowEvent[],
  { to, status }: { readonly to: number; readonly status: WorkflowStatus },
): Bar[] {
  const bars: Bar[] = [];
  let last = Date.parse(activity.createdAt);
  let claimed: number | null = events[0]?.event === 'activity-claimed' ? null : last;
  const add = (kind: BarKind, until: number) => {
    // The end of a run can be before the end of a lease.
    const end = Math.max(last, Math.min(until, to));
    bars.push({ kind, from: last, to: end });
    last = end;
    claimed = null;
  };
  for (const { event, at } of events) {
    const time = Date.parse(at);
    if (event === 'activity-claimed') {
      if (time > last) add('waiting', time);
      claimed = last;
    } else if (event === 'activity-completed') add('done', time);
    else if (event === 'activity-failed') add('failed', time);
    else if (event === 'activity-lease-expired') add('lost', time);
  }
  if (activity.completedAt !== null) {
    if (bars.at(-1)?.kind !== 'done') add('done', Date.parse(activity.completedAt));
    return bars;
  }
  if (claimed !== null) {
    if (status !== 'running') add('stopped', to);
    else if (activity.state === 'claimed') add('working', to);
    else if (activity.state === 'failed') add('failed', to);
    else add('lost', Date.parse(activity.leaseExpiresAt ?? ''));
  }
  if (status === 'running' && last < to) add('waiting', to);
  return bars;
}

/** Where a bar is drawn, in percent of the whole. */
export function placeOf({ from, to }: Timeline, bar: Bar): { readonly left: number; readonly width: number } {
  const whole = Math.max(1, to - from);
  const left = Math.min(100, Math.max(0, (100 * (bar.from - from)) / whole));
  return { left, width: Math.min(100 - left, (100 * (bar.to - bar.from)) / whole) };
}
