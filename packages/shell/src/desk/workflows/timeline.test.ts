// A history as bars over time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ActivitySummary, WorkflowEvent, WorkflowStatus, WorkflowTimeline } from '@platform/contract';
import { placeOf, timelineOf } from './timeline.ts';

const START = Date.parse('2026-11-21T10:00:00.000Z');
const at = (offset: number) => new Date(START + offset).toISOString();

const activity = (state: ActivitySummary['state'], more: object = {}): ActivitySummary => ({
  id: 'act-a' as ActivitySummary['id'],
  step: 'pay',
  name: 'pay',
  attempt: 1,
  state,
  inputBytes: 4,
  resultBytes: null,
  createdAt: at(10),
  leaseExpiresAt: null,
  completedAt: null,
  ...more,
});

type Kind = WorkflowEvent['event'];
/** Kind and time. */
type Happened = readonly [Kind, number];

function timeline(
  one: ActivitySummary,
  happened: readonly Happened[],
  end?: { readonly status: WorkflowStatus; readonly at: number },
): WorkflowTimeline {
  const last = end?.at ?? happened.at(-1)?.[1] ?? 0;
  return {
    run: {
      id: 'wf-a' as WorkflowTimeline['run']['id'],
      definition: 'order',
      version: 1,
      idempotencyKey: 'k',
      status: end?.status ?? 'running',
      error: null,
      createdAt: at(0),
      updatedAt: at(last),
      expiresAt: at(1_000_000),
      completedAt: end === undefined ? null : at(end.at),
      activities: 1,
      inputBytes: 4,
      resultBytes: null,
    },
    activities: [one],
    events: happened.map(([event, time], index) => ({
      sequence: index + 2,
      at: at(time),
      event,
      activityId: one.id,
      step: one.step,
    })),
  };
}

const drawn = (one: WorkflowTimeline, now = 0) =>
  timelineOf(one, START + now).steps.flatMap(({ bars }) =>
    bars.map(({ kind, from, to }) => `${kind} ${from - START}-${to - START}`),
  );

test('attempts, and the time between them', () => {
  const one = activity('completed', { attempt: 3, completedAt: at(900) });
  const happened: Happened[] = [
    ['activity-claimed', 10],
    ['activity-failed', 20],
    ['activity-claimed', 50],
    ['activity-lease-expired', 700],
    ['activity-claimed', 700],
    ['activity-completed', 900],
  ];
  const ended = timeline(one, happened, { status: 'completed', at: 1_000 });
  assert.deepEqual(drawn(ended), ['failed 10-20', 'waiting 20-50', 'lost 50-700', 'done 700-900']);
  const { steps, from, to } = timelineOf(ended, START + 99_999);
  assert.deepEqual([from - START, to - START, steps[0]?.state], [0, 1_000, 'done']);
});

test('what is going on reaches to now, and never ends before what happened last', () => {
  const one = timeline(activity('claimed', { leaseExpiresAt: at(60_010) }), [['activity-claimed', 10]]);
  assert.deepEqual(drawn(one, 500), ['working 10-500']);
  assert.deepEqual(drawn(one, -86_400_000), ['working 10-10'], 'a clock that is behind');
});

test('a step that nobody works on', () => {
  const failed = timeline(activity('failed'), [
    ['activity-claimed', 10],
    ['activity-failed', 20],
  ]);
  assert.deepEqual(drawn(failed, 500), ['failed 10-20', 'waiting 20-500']);
  const lost = timeline(activity('lease-expired', { leaseExpiresAt: at(60_010) }), [['activity-claimed', 10]]);
  assert.deepEqual(drawn(lost, 90_000), ['lost 10-60010', 'waiting 60010-90000']);
  assert.equal(timelineOf(lost, START + 90_000).steps[0]?.state, 'waiting');
});

test('a run that ended before its steps did', () => {
  const one = activity('lease-expired', { leaseExpiresAt: at(60_010) });
  const cancelled = timeline(one, [['activity-claimed', 10]], { status: 'cancelled', at: 300 });
  assert.deepEqual(drawn(cancelled, 999_999), ['stopped 10-300']);
  assert.equal(timelineOf(cancelled, START).steps[0]?.state, 'stopped');
});

test('steps whose history is not among the newest events', () => {
  const done = activity('completed', { completedAt: at(40), attempt: 2 });
  assert.deepEqual(drawn(timeline(done, []), 500), ['done 10-40']);
  assert.deepEqual(drawn(timeline(done, [['activity-completed', 40]]), 500), ['done 10-40']);
  assert.deepEqual(drawn(timeline(activity('claimed', { leaseExpiresAt: at(60_010) }), []), 500), ['working 10-500']);
});

test('bars stay within the whole, also of a run that took no time', () => {
  const one = activity('completed', { createdAt: at(0), completedAt: at(0) });
  const instant = timeline(one, [], { status: 'completed', at: 0 });
  const drawing = timelineOf(instant, START);
  const [bar] = drawing.steps[0]?.bars ?? [];
  assert.ok(bar);
  assert.deepEqual(placeOf(drawing, bar), { left: 0, width: 0 });
  const whole = { ...drawing, to: START + 200 };
  assert.deepEqual(placeOf(whole, { kind: 'done', from: START + 50, to: START + 150 }), { left: 25, width: 50 });
});
