// Workflow runs in words: states, spans of time, what happened to a step.
import type { WorkflowStatus, WorkflowSummary } from '@platform/contract';
import { count, sizeText } from '../../design/words.ts';
import type { Bar, BarKind, StepRow } from './timeline.ts';

export const STATES: Record<WorkflowStatus, string> = {
  running: 'Running',
  completed: 'Finished',
  failed: 'Failed',
  cancelled: 'Cancelled',
  expired: 'Expired',
};

export const STEP_STATES: Record<StepRow['state'], string> = {
  done: 'Finished',
  working: 'Running',
  waiting: 'Waiting',
  stopped: 'Not finished',
};

/** What the colours mean. */
export const BARS: Record<BarKind, string> = {
  done: 'Finished',
  working: 'Running',
  failed: 'Failed attempt',
  lost: 'Interrupted attempt',
  waiting: 'Waiting for the next attempt',
  stopped: 'Not finished',
};

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `3 ms`, `1.2 s`, `3 min 20 s`, `5 h 12 min`, `3 d 4 h`. */
export function span(milliseconds: number): string {
  const whole = Math.max(0, Math.round(milliseconds));
  if (whole < SECOND) return `${whole} ms`;
  if (whole < 10 * SECOND) return `${(Math.floor(whole / 100) / 10).toString()} s`;
  if (whole < MINUTE) return `${Math.floor(whole / SECOND)} s`;
  if (whole < HOUR) return two(whole, [MINUTE, 'min'], [SECOND, 's']);
  if (whole < DAY) return two(whole, [HOUR, 'h'], [MINUTE, 'min']);
  return two(whole, [DAY, 'd'], [HOUR, 'h']);
}

type Unit = readonly [milliseconds: number, name: string];

function two(milliseconds: number, [large, largeName]: Unit, [small, smallName]: Unit): string {
  const rest = Math.floor((milliseconds % large) / small);
  return `${Math.floor(milliseconds / large)} ${largeName}${rest === 0 ? '' : ` ${rest} ${smallName}`}`;
}

/** How long it took, or has been going on. */
export function tookOf(run: Pick<WorkflowSummary, 'createdAt' | 'completedAt'>, now: number): string {
  const end = run.completedAt === null ? now : Date.parse(run.completedAt);
  return span(end - Date.parse(run.createdAt));
}

/** `input 12 bytes, result 1.6 KiB` */
export function sizes({ inputBytes, resultBytes }: Pick<WorkflowSummary, 'inputBytes' | 'resultBytes'>): string {
  const input = `input ${sizeText(inputBytes)}`;
  return resultBytes === null ? input : `${input}, result ${sizeText(resultBytes)}`;
}

/** `Finished in 1.2 s, 3 attempts` */
export function stepLine({ state, activity, from, to }: StepRow): string {
  const time = span(to - from);
  const words = {
    done: `Finished in ${time}`,
    working: `Running for ${time}`,
    waiting: `Waiting for the next attempt, begun ${time} ago`,
    stopped: `Not finished after ${time}`,
  }[state];
  return activity.attempt === 1 ? words : `${words}, ${count(activity.attempt, 'attempt')}`;
}

/** What a bar stands for, for a list of them. */
export function barLine({ kind, from, to }: Bar): string {
  const time = span(to - from);
  return {
    done: `Finished after ${time}`,
    working: `Running for ${time}`,
    failed: `Failed after ${time}`,
    lost: `Interrupted, and given up after ${time}`,
    waiting: `Waited ${time} for the next attempt`,
    stopped: `Not finished after ${time}`,
  }[kind];
}
