// Executes a workflow function: every activity that was completed before gives its result, the others are executed, and
// the run ends with what the function returns or throws.
import type { CompleteWorkflow, WorkflowRun } from '@platform/contract';
import type { ServiceAccess } from './call-options.ts';
import { systemClock } from './clock.ts';
import { Awake } from './keep-awake.ts';
import { patiently } from './patience.ts';
import { PlatformError } from './platform-error.ts';
import {
  type ActivityOptions,
  asJson,
  codeOf,
  describe,
  type Executor,
  ExecutorFailure,
  runActivity,
} from './run-activity.ts';
import { workflowCalls, workflowsService } from './workflows.ts';

export interface WorkflowOptions<Input> {
  /** Name of the function, 1 to 128 characters. */
  readonly definition: string;
  /** 0 or more. A change of the function that a run under way could not follow needs another one. */
  readonly version: number;
  /** JSON of at most 32 KiB; default `null`. */
  readonly input?: Input;
  /** The same for every execution of one logical run, for example an order number; 1 to 200 characters. */
  readonly idempotencyKey: string;
  /** After this the run expires, in seconds: 1 to 604,800. */
  readonly durationSeconds: number;
  /** Ends this execution, not the run: another one can go on. */
  readonly signal?: AbortSignal;
}

export interface Flow {
  /** Of the run. */
  readonly id: string;
  /** Aborts when the run was cancelled or expired, as far as this process has noticed, or the caller's signal did. */
  readonly signal: AbortSignal;
  /**
   * Executes a step once and keeps its result; in later executions gives the result.
   *
   * @param step its durable name in this run, `[A-Za-z0-9._~-]{1,128}`; the same in every execution
   * @param activityName what it does, 1 to 128 characters
   * @param activityInput JSON of at most 32 KiB; the same in every execution
   * @param executor gets the input and `{ idempotencyKey, signal, attempt }`, returns JSON of at most 32 KiB
   * @throws what the executor threw last; {PlatformError} `activity_conflict` when the step had another name or input,
   *   `activity_limit` for the 257th
   */
  activity<Input, Result>(
    step: string,
    activityName: string,
    activityInput: Input,
    executor: Executor<Input, Result>,
    options?: ActivityOptions,
  ): Promise<Result>;
}

export type WorkflowFunction<Input, Result> = (flow: Flow, input: Input) => Promise<Result> | Result;

/**
 * Runs a workflow function to its end, or gives the result it ended with.
 *
 * A run that is still going on is executed from its start. When the function throws, the run has failed, unless the
 * platform refused or could not be reached, or the signal aborted: then the run stays as it is, and running it again
 * goes on.
 *
 * @throws what the function threw; {PlatformError} `workflow_failed` for a run that failed before,
 *   `workflow_not_running` for one that was cancelled or expired, `workflow_conflict` for an idempotency key that has
 *   another input
 */
export async function runWorkflow<Input, Result>(
  access: ServiceAccess,
  { signal, input, ...options }: WorkflowOptions<Input>,
  run: WorkflowFunction<Input, Result>,
): Promise<Result> {
  const execution = openExecution(access, signal);
  const body = { ...options, input: asJson(input) };
  const found = await patiently(execution, execution.signal, (within) =>
    workflowCalls(access).create(body, { signal: within }),
  );
  return await execute(access, found, run, execution);
}

export interface WorkflowDefinition {
  readonly definition: string;
  readonly version: number;
  // biome-ignore lint/suspicious/noExplicitAny: each definition has its own input
  readonly run: WorkflowFunction<any, unknown>;
}

export interface ResumedRun {
  readonly id: string;
  readonly definition: string;
  readonly idempotencyKey: string;
  /** What the function returned, or what it or the platform threw. */
  readonly outcome: Outcome;
}

/**
 * Executes every run of these definitions that is still running, as an app does when it starts. All at once, at most 256:
 * one may wait for days, and must not hold up the others.
 *
 * @returns how each of them came out, once all have
 * @throws {PlatformError} when the runs cannot be listed
 */
export async function resumeWorkflows(
  access: ServiceAccess,
  definitions: readonly WorkflowDefinition[],
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<ResumedRun[]> {
  const interrupted: { readonly found: WorkflowRun; readonly run: WorkflowDefinition['run'] }[] = [];
  for (const { definition, version, run } of definitions) {
    const running = await runningRuns(access, definition, signal);
    interrupted.push(...running.filter((found) => found.version === version).map((found) => ({ found, run })));
  }
  return Promise.all(interrupted.map(({ found, run }) => resume(access, found, run, signal)));
}

async function resume(
  access: ServiceAccess,
  found: WorkflowRun,
  run: WorkflowDefinition['run'],
  signal: AbortSignal | undefined,
): Promise<ResumedRun> {
  const { id, definition, idempotencyKey } = found;
  const outcome = await outcomeOf(() => execute(access, found, run, openExecution(access, signal)));
  return { id, definition, idempotencyKey, outcome };
}

async function runningRuns(
  access: ServiceAccess,
  definition: string,
  signal: AbortSignal | undefined,
): Promise<WorkflowRun[]> {
  const execution = openExecution(access, signal);
  const found: WorkflowRun[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await patiently(execution, execution.signal, (within) =>
      workflowsService(access).list({
        definition,
        status: 'running',
        signal: within,
        ...(cursor == null ? {} : { cursor }),
      }),
    );
    found.push(...page.items);
    cursor = page.nextCursor;
  }
  return found;
}

function openExecution(access: ServiceAccess, signal = new AbortController().signal) {
  const stopped = new AbortController();
  return {
    calls: workflowCalls(access),
    clock: systemClock,
    random: Math.random,
    /** The caller's. */
    given: signal,
    signal: AbortSignal.any([signal, stopped.signal]),
    stop: (reason: unknown) => stopped.abort(reason),
  };
}

async function execute<Input, Result>(
  access: ServiceAccess,
  run: WorkflowRun,
  workflow: WorkflowFunction<Input, Result>,
  opened: ReturnType<typeof openExecution>,
): Promise<Result> {
  if (run.status !== 'running') return ended<Result>(run);
  using _awake = keepAwake(access);
  const execution = { ...opened, runId: run.id };
  /** What the platform refused: it ends the execution, not the run. */
  const refused = new Set<unknown>();
  const flow: Flow = {
    id: run.id,
    signal: execution.signal,
    async activity(step, name, input, executor, options = {}) {
      try {
        return await runActivity(execution, { step, name, input }, executor, options);
      } catch (error) {
        if (error instanceof ExecutorFailure) throw error.error;
        refused.add(error);
        throw error;
      }
    },
  };
  const end = (body: CompleteWorkflow) =>
    patiently(execution, execution.signal, (within) => execution.calls.end(run.id, body, { signal: within }));
  try {
    const outcome = await outcomeOf(async () => asJson(await workflow(flow, run.input as Input)));
    if ('error' in outcome && (execution.signal.aborted || isOf(refused, outcome.error))) throw outcome.error;
    execution.signal.throwIfAborted();
    if ('error' in outcome) {
      await end({ status: 'failed', error: describe(outcome.error) });
      throw outcome.error;
    }
    await end({ status: 'completed', result: outcome.result });
    return outcome.result as Result;
  } catch (error) {
    if (codeOf(error) !== 'workflow_not_running') throw error;
    // Another process may have ended it.
    const now = await patiently(execution, opened.given, (within) =>
      workflowsService(access).get(run.id, { signal: within }),
    );
    if (now.status === 'running') throw error;
    return ended<Result>(now);
  } finally {
    // Activities that the function did not wait for.
    execution.stop(new PlatformError({ code: 'workflow_not_running', detail: 'The execution of this run has ended.' }));
  }
}

type Outcome = { readonly result: unknown } | { readonly error: unknown };

async function outcomeOf(work: () => Promise<unknown>): Promise<Outcome> {
  try {
    return { result: await work() };
  } catch (error) {
    return { error };
  }
}

/** Whether it is one of these errors, or is caused by one. */
function isOf(errors: ReadonlySet<unknown>, error: unknown): boolean {
  for (let one = error; one !== undefined && one !== null; one = one instanceof Error ? one.cause : undefined) {
    if (errors.has(one)) return true;
  }
  return false;
}

function ended<Result>({ status, result, error, idempotencyKey }: WorkflowRun): Result {
  if (status === 'completed') return result as Result;
  if (status === 'failed')
    throw new PlatformError({ code: 'workflow_failed', detail: error?.message ?? 'The run failed.', cause: error });
  throw new PlatformError({
    code: 'workflow_not_running',
    detail: `The run "${idempotencyKey}" ${status === 'cancelled' ? 'was cancelled' : 'expired'}.`,
  });
}

const awake = new WeakMap<ServiceAccess, Awake>();

function keepAwake(access: ServiceAccess): Disposable {
  const keeper = awake.get(access) ?? new Awake(access, systemClock);
  awake.set(access, keeper);
  return keeper.hold();
}
