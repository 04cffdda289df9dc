// Workflows over HTTP: for the app that runs them, by its Gateway, and for its owner to look at.
import type { DomainRoute } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { claimActivity, completeActivity, renewActivity } from './activities.ts';
import { listOwnRuns, listRuns, readHistory, readTimeline } from './history.ts';
import { completeRun, createRun, deleteRun, readRun } from './runs.ts';

export type WorkflowRoute = DomainRoute<'workflows'>;

export function workflowRoutes(context: CoreContext): HandlersOf<WorkflowRoute> {
  return {
    'services.workflows.create': async ({ caller, body }) => {
      const { run, created } = await createRun(context, caller.installationId, body);
      return { status: created ? 201 : 200, body: { run } };
    },
    'services.workflows.list': async ({ caller, query }) => ({
      status: 200,
      body: await listRuns(context, caller.installationId, query),
    }),
    'services.workflows.read': async ({ caller, params }) => ({
      status: 200,
      body: { run: await readRun(context, caller.installationId, params.workflowId) },
    }),
    'services.workflows.delete': async ({ caller, params }) => {
      await deleteRun(context, caller.installationId, params.workflowId);
      return { status: 204 };
    },
    'services.workflows.history': async ({ caller, params, query }) => ({
      status: 200,
      body: await readHistory(context, { ...params, installationId: caller.installationId }, query),
    }),
    'services.workflows.complete': async ({ caller, params, body }) => ({
      status: 200,
      body: {
        run: await completeRun(context, { installationId: caller.installationId, id: params.workflowId }, body),
      },
    }),
    'services.workflows.claim': async ({ caller, params, body }) => {
      const run = { installationId: caller.installationId, workflowId: params.workflowId };
      return { status: 200, body: await claimActivity(context, run, params.step, body) };
    },
    'services.workflows.renew': async ({ caller, params: { workflowId, activityId: id }, body }) => {
      const activity = { installationId: caller.installationId, workflowId, id };
      return { status: 200, body: { activity: await renewActivity(context, activity, body.leaseToken) } };
    },
    'services.workflows.completeActivity': async ({ caller, params: { workflowId, activityId: id }, body }) => {
      const activity = { installationId: caller.installationId, workflowId, id };
      return { status: 200, body: { activity: await completeActivity(context, activity, body) } };
    },
    'apps.workflows.list': async ({ caller, params, query }) => ({
      status: 200,
      body: await listOwnRuns(context, { accountKey: caller.accountKey, appId: params.appId }, query),
    }),
    'apps.workflows.read': async ({ caller, params: { appId, workflowId } }) => ({
      status: 200,
      body: await readTimeline(context, { accountKey: caller.accountKey, appId }, workflowId),
    }),
  };
}
