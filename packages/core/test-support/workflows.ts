// What the tests of workflows share: the routes as an app calls them through its Gateway.
import assert from 'node:assert/strict';
import {
  activityAnswer,
  type ClaimAnswer,
  claimAnswer,
  type WorkflowActivity,
  type WorkflowEvent,
  type WorkflowRun,
  workflowAnswer,
} from '@platform/contract';
import type { InstalledTestApp } from '../../../tests/support/installed-app.ts';
import { problemCode, type RawAnswer } from '../../../tests/support/raw-http.ts';

export const RUNS = '/v1/services/workflows';

export function assertRefused(answer: RawAnswer, status: number, code: string): void {
  assert.deepEqual([answer.status, problemCode(answer)], [status, code], answer.text);
}

/** The routes of one app, each with its raw answer. */
export function workflowsOf(app: InstalledTestApp) {
  const post = (path: string, body: object) => app.call(`${RUNS}${path}`, { body });
  return {
    create: (more: object = {}) =>
      post('', { definition: 'order', version: 1, idempotencyKey: 'k', durationSeconds: 3_600, ...more }),
    read: (id: string) => app.call(`${RUNS}/${id}`),
    remove: (id: string) => app.call(`${RUNS}/${id}`, { method: 'DELETE' }),
    list: (query = '') => app.call(`${RUNS}${query}`),
    history: (id: string, query = '') => app.call(`${RUNS}/${id}/history${query}`),
    end: (id: string, body: object) => post(`/${id}/complete`, body),
    claim: (id: string, step: string, body: object = { activity: 'work' }) =>
      post(`/${id}/activities/${step}/claim`, body),
    renew: (id: string, activity: string, leaseToken: string) =>
      post(`/${id}/activities/${activity}/renew`, { leaseToken }),
    complete: (id: string, activity: string, body: object) => post(`/${id}/activities/${activity}/complete`, body),
  };
}

export type Workflows = ReturnType<typeof workflowsOf>;

export function runFrom(answer: RawAnswer, status = 200): WorkflowRun {
  assert.equal(answer.status, status, answer.text);
  return workflowAnswer.parse(answer.json).run;
}

export function activityFrom(answer: RawAnswer): WorkflowActivity {
  assert.equal(answer.status, 200, answer.text);
  return activityAnswer.parse(answer.json).activity;
}

export function claimedFrom(answer: RawAnswer): Extract<ClaimAnswer, { outcome: 'claimed' }>['activity'] {
  assert.equal(answer.status, 200, answer.text);
  const claim = claimAnswer.parse(answer.json);
  if (claim.outcome !== 'claimed') assert.fail(`the step was ${claim.outcome}: ${answer.text}`);
  return claim.activity;
}

/** Without times and ids. */
export async function eventsOf(workflows: Workflows, id: string): Promise<string[]> {
  const answer = await workflows.history(id, '?limit=200');
  assert.equal(answer.status, 200, answer.text);
  const { items } = answer.json as { items: WorkflowEvent[] };
  return items.map(({ sequence, event, step, attempt }) =>
    [sequence, event, ...(step === undefined ? [] : [`${step}#${attempt}`])].join(' '),
  );
}
