// Workflow runs of this installation: what a program may do with them besides running them.
import type {
  ClaimActivity,
  ClaimAnswer,
  CompleteActivity,
  CompleteWorkflow,
  CreateWorkflow,
  WorkflowActivity,
  WorkflowEvent,
  WorkflowRun,
  WorkflowStatus,
} from '@platform/contract';
import type { CallOptions, ServiceAccess } from './call-options.ts';
import { callService } from './service-call.ts';
import type { Page, PageOptions } from './services.ts';

/** Which runs. */
export interface WorkflowListOptions extends PageOptions {
  /** Default: any. */
  readonly status?: WorkflowStatus;
  /** Name of a definition. Default: any. */
  readonly definition?: string;
}

/**
 * Runs of durable workflows of this installation.
 *
 * @example
 * ```ts
 * import { PlatformServicesClient } from '@platform/sdk';
 *
 * const { workflows } = PlatformServicesClient.fromEnv();
 * const { items } = await workflows.list({ status: 'failed', limit: 10 });
 * for (const { id, definition, error } of items) console.log(id, definition, error?.message);
 * ```
 */
export interface WorkflowsService {
  /** Newest first. A page with large inputs and results ends early; `nextCursor` leads on. */
  list(options?: WorkflowListOptions): Promise<Page<WorkflowRun>>;
  /** One run. @throws {PlatformError} `not_found` */
  get(id: string, options?: CallOptions): Promise<WorkflowRun>;
  /** What happened in it, oldest first: structure and times, no inputs and results. @throws {PlatformError} `not_found` */
  history(id: string, options?: PageOptions): Promise<Page<WorkflowEvent>>;
  /**
   * Cancels a running run, whose executors then lose their leases; removes one that ended.
   *
   * @throws {PlatformError} `not_found`
   */
  cancel(id: string, options?: CallOptions): Promise<void>;
}

const RUNS = '/v1/services/workflows';
const RUN = `${RUNS}/:workflowId`;

/** Runs of durable workflows, as an app lists, reads and cancels them. */
export function workflowsService(access: ServiceAccess): WorkflowsService {
  return {
    list({ status, definition, limit, cursor, ...options } = {}) {
      const query = { status, definition, limit, cursor };
      return callService<'services.workflows.list'>(access, { method: 'GET', path: RUNS, query }, options);
    },
    async get(id, options) {
      const input = { method: 'GET', path: RUN, parameters: { workflowId: id } } as const;
      return (await callService<'services.workflows.read'>(access, input, options)).run;
    },
    history(id, { limit, cursor, ...options } = {}) {
      const input = {
        method: 'GET',
        path: `${RUN}/history`,
        parameters: { workflowId: id },
        query: { limit, cursor },
      } as const;
      return callService<'services.workflows.history'>(access, input, options);
    },
    async cancel(id, options) {
      const input = { method: 'DELETE', path: RUN, parameters: { workflowId: id } } as const;
      await callService<'services.workflows.delete'>(access, input, options);
    },
  };
}

/** The calls by which a run is executed. Each may be repeated. */
export interface WorkflowCalls {
  create(body: CreateWorkflow, options: CallOptions): Promise<WorkflowRun>;
  end(id: string, body: CompleteWorkflow, options: CallOptions): Promise<WorkflowRun>;
  claim(id: string, step: string, body: ClaimActivity, options: CallOptions): Promise<ClaimAnswer>;
  renew(id: string, activity: string, leaseToken: string, options: CallOptions): Promise<WorkflowActivity>;
  settle(id: string, activity: string, body: CompleteActivity, options: CallOptions): Promise<WorkflowActivity>;
}

/** The calls of an executor: create, claim, renew, settle, end. */
export function workflowCalls(access: ServiceAccess): WorkflowCalls {
  return {
    async create(body, options) {
      const input = { method: 'POST', path: RUNS, body } as const;
      return (await callService<'services.workflows.create'>(access, input, options)).run;
    },
    async end(workflowId, body, options) {
      const input = { method: 'POST', path: `${RUN}/complete`, parameters: { workflowId }, body } as const;
      return (await callService<'services.workflows.complete'>(access, input, options)).run;
    },
    claim(workflowId, step, body, options) {
      const input = {
        method: 'POST',
        path: `${RUN}/activities/:step/claim`,
        parameters: { workflowId, step },
        body,
      } as const;
      return callService<'services.workflows.claim'>(access, input, options);
    },
    async renew(workflowId, activityId, leaseToken, options) {
      const input = {
        method: 'POST',
        path: `${RUN}/activities/:activityId/renew`,
        parameters: { workflowId, activityId },
        body: { leaseToken },
      } as const;
      return (await callService<'services.workflows.renew'>(access, input, options)).activity;
    },
    async settle(workflowId, activityId, body, options) {
      const input = {
        method: 'POST',
        path: `${RUN}/activities/:activityId/complete`,
        parameters: { workflowId, activityId },
        body,
      } as const;
      return (await callService<'services.workflows.completeActivity'>(access, input, options)).activity;
    },
  };
}
