// Durable workflows (specification 2.6, 4.9; contract 4): runs of an app's own functions, and their activities, of which
// each is completed once. The service keeps inputs, results and the structure of what happened; it runs nothing itself.
import * as z from 'zod';
import { type Errors, type KeptJson, KiB, keptJson, type Limits, MiB, type Routes } from '../domain.ts';
import { activityId, appId, timestamp, workflowId } from '../primitives.ts';
import { readableLine, readableText, storable } from '../text.ts';
import { json, ofApp, page, pageQuery } from './common.ts';

const limits = {
  workflowInput: {
    value: 32 * KiB,
    unit: 'bytes',
    meaning: 'input of a workflow run, and input and result of an activity, as compact JSON',
  },
  workflowResult: { value: 64 * KiB, unit: 'bytes', meaning: 'final result of a workflow run, as compact JSON' },
  workflowActivities: { value: 256, unit: 'items', meaning: 'activities of a workflow run' },
  workflowRuns: {
    value: 256,
    unit: 'items',
    meaning: 'workflow runs of one installation; one more replaces the one that ended first',
  },
  workflowHistory: {
    value: 10_000,
    unit: 'items',
    meaning: 'entries in the history of a workflow run; beyond it no activity can be claimed',
  },
  workflowStored: {
    value: 256 * MiB,
    unit: 'bytes',
    meaning:
      'inputs, results and histories of all workflow runs of one installation, above which no run can be created and no activity claimed; a claimed activity takes the room of the largest result until it is completed',
  },
  workflowPage: {
    value: MiB,
    unit: 'bytes',
    meaning: 'inputs and results on one page of workflow runs; it then ends early',
  },
  workflowLongestSeconds: { value: 604_800, unit: 'seconds', meaning: 'time until a workflow run expires' },
  workflowKeptDays: { value: 7, unit: 'days', meaning: 'time for which a workflow run is kept after it ended' },
  workflowLeaseSeconds: { value: 60, unit: 'seconds', meaning: 'lease of a claimed activity; it can be renewed' },
  workflowIdempotencyKey: { value: 200, unit: 'characters', meaning: 'idempotency key of a workflow run' },
  workflowName: { value: 128, unit: 'characters', meaning: 'name of a workflow definition or activity' },
  workflowError: { value: 2_000, unit: 'characters', meaning: 'message of a failed workflow run or activity' },
  workflowRate: { value: 12_000, unit: 'per minute', meaning: 'workflow requests of one installation' },
} as const satisfies Limits;

const errors = {
  workflow_conflict: {
    status: 409,
    title: 'A run with this idempotency key has a different input.',
    help: 'Use another idempotency key, or repeat the call with the first input.',
  },
  activity_conflict: {
    status: 409,
    title: 'This step was claimed with a different activity or input, or completed with a different result.',
    help: 'A step keeps its activity name and input for the whole run. Make the workflow function deterministic: what may change between two executions belongs into an activity.',
  },
  activity_leased: {
    status: 409,
    title: 'Another process has claimed this step.',
    help: 'Wait for `Retry-After` and claim again.',
  },
  lease_lost: {
    status: 409,
    title: 'The lease is not valid any more, or moved to another process.',
    help: 'Stop the work; another process may have claimed it.',
  },
  workflow_not_running: {
    status: 409,
    title: 'The run has already ended.',
    help: 'Read the run for its status and result.',
  },
  workflow_input_too_large: {
    status: 413,
    title: 'The workflow input is too large.',
    help: 'Keep inputs of runs and activities within 32 KiB of compact JSON; store larger data elsewhere and pass a reference.',
  },
  workflow_result_too_large: {
    status: 413,
    title: 'The workflow result is too large.',
    help: 'Keep the final result within 64 KiB of compact JSON, and that of an activity within 32 KiB; store larger data elsewhere and return a reference.',
  },
  activity_limit: {
    status: 429,
    title: 'The run has reached its activity limit.',
    help: 'A run has at most 256 activities and 10,000 entries of history; continue in a new run.',
  },
  workflow_run_limit: {
    status: 429,
    title: 'Too many runs are running.',
    help: 'Wait until one of the 256 runs ends, or cancel one. Running runs have 256 MiB of inputs, results and histories together.',
  },
} as const satisfies Errors;

const name = z
  .string()
  .min(1)
  .max(limits.workflowName.value)
  .regex(...readableLine);

/** Any JSON value. It comes back as it was sent: see `JsonBody.keepsJson`. */
const value = z.unknown();
const given = value.refine((one) => one !== undefined, 'must be given');

export const workflowStep = z
  .string()
  .regex(/^[A-Za-z0-9._~-]{1,128}$/, 'must be 1 to 128 letters, digits, dots, underscores, tildes and hyphens');

/** What went wrong, for the owner and the author to read. */
export const workflowError = z.strictObject({
  code: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,64}$/, 'must be 1 to 64 letters, digits, dots, underscores and hyphens')
    .optional(),
  message: readableText(limits.workflowError.value),
});
export type WorkflowError = z.infer<typeof workflowError>;

export const workflowStatus = z.enum(['running', 'completed', 'failed', 'cancelled', 'expired']);
export type WorkflowStatus = z.infer<typeof workflowStatus>;

const definition = name;
const definitionVersion = z.int().min(0).max(2_147_483_647);
const attempt = z.int().min(1);

/** Definition, version and idempotency key are the identity of a run. */
export const createWorkflowBody = z.strictObject({
  definition,
  version: definitionVersion,
  idempotencyKey: z
    .string()
    .min(1)
    .max(limits.workflowIdempotencyKey.value)
    .regex(/^\P{Cc}*$/u, 'must not contain control characters')
    .refine(...storable),
  input: value.default(null),
  durationSeconds: z.int().min(1).max(limits.workflowLongestSeconds.value),
});
export type CreateWorkflow = z.input<typeof createWorkflowBody>;

export const workflowRun = z.strictObject({
  id: workflowId,
  definition: z.string(),
  version: z.int(),
  idempotencyKey: z.string(),
  status: workflowStatus,
  input: value,
  /** `null` unless it completed. */
  result: value,
  error: workflowError.nullable(),
  createdAt: timestamp,
  updatedAt: timestamp,
  expiresAt: timestamp,
  /** When it ended, however it did. */
  completedAt: timestamp.nullable(),
  /** When it is removed; `null` while it runs. */
  cleanupAt: timestamp.nullable(),
});
export type WorkflowRun = z.infer<typeof workflowRun>;
export const workflowAnswer = z.strictObject({ run: workflowRun });

export const workflowsQuery = pageQuery.extend({
  status: workflowStatus.optional(),
  definition: definition.optional(),
});

export const completeWorkflowBody = z.discriminatedUnion('status', [
  z.strictObject({ status: z.literal('completed'), result: value.default(null) }),
  z.strictObject({ status: z.literal('failed'), error: workflowError }),
]);
export type CompleteWorkflow = z.input<typeof completeWorkflowBody>;

const leaseToken = z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'must be 32 bytes in base64url');

export const claimActivityBody = z.strictObject({
  activity: name,
  input: value.default(null),
  /** Which token the lease gets, 32 random bytes: repeating the claim then answers with the same lease. Default: a new one. */
  leaseToken: leaseToken.optional(),
});
export type ClaimActivity = z.input<typeof claimActivityBody>;

const activityShape = { id: activityId, step: z.string(), name: z.string(), attempt };

/** `leaseExpiresAt` is `null` for one that nobody has claimed now; `result` is there once it is completed. */
export const workflowActivity = z.strictObject({
  ...activityShape,
  leaseExpiresAt: timestamp.nullable(),
  result: value.optional(),
});
export type WorkflowActivity = z.infer<typeof workflowActivity>;
export const activityAnswer = z.strictObject({ activity: workflowActivity });

export const claimAnswer = z.discriminatedUnion('outcome', [
  z.strictObject({
    outcome: z.literal('claimed'),
    activity: z.strictObject({ ...activityShape, leaseToken: z.string(), leaseExpiresAt: timestamp }),
  }),
  z.strictObject({ outcome: z.literal('completed'), activity: z.strictObject({ ...activityShape, result: value }) }),
]);
export type ClaimAnswer = z.infer<typeof claimAnswer>;

export const renewActivityBody = z.strictObject({ leaseToken });

/** With an error the step can be claimed again. */
export const completeActivityBody = z.union([
  z.strictObject({ leaseToken, result: given }),
  z.strictObject({ leaseToken, error: workflowError }),
]);
export type CompleteActivity = z.input<typeof completeActivityBody>;

/** The structure of what happened: no inputs, no results. */
export const workflowEvent = z.strictObject({
  /** From 1, without gaps. */
  sequence: z.int().min(1),
  at: timestamp,
  event: z.enum([
    'created',
    'activity-claimed',
    'activity-lease-expired',
    'activity-completed',
    'activity-failed',
    'completed',
    'failed',
    'cancelled',
    'expired',
  ]),
  step: z.string().optional(),
  activityId: activityId.optional(),
  attempt: attempt.optional(),
});
export type WorkflowEvent = z.infer<typeof workflowEvent>;

/** What the owner of the app sees: structure, times and sizes. */
export const workflowSummary = z.strictObject({
  id: workflowId,
  definition: z.string(),
  version: z.int(),
  idempotencyKey: z.string(),
  status: workflowStatus,
  error: workflowError.nullable(),
  createdAt: timestamp,
  updatedAt: timestamp,
  expiresAt: timestamp,
  completedAt: timestamp.nullable(),
  activities: z.int(),
  /** Of the compact JSON. */
  inputBytes: z.int(),
  resultBytes: z.int().nullable(),
});
export type WorkflowSummary = z.infer<typeof workflowSummary>;

export const activitySummary = z.strictObject({
  ...activityShape,
  state: z.enum(['claimed', 'lease-expired', 'failed', 'completed']),
  inputBytes: z.int(),
  resultBytes: z.int().nullable(),
  createdAt: timestamp,
  leaseExpiresAt: timestamp.nullable(),
  completedAt: timestamp.nullable(),
});
export type ActivitySummary = z.infer<typeof activitySummary>;

/** One run as a timeline. `events` are its newest ones, in their order. */
export const workflowTimeline = z.strictObject({
  run: workflowSummary,
  activities: z.array(activitySummary),
  events: z.array(workflowEvent),
});
export type WorkflowTimeline = z.infer<typeof workflowTimeline>;

const ofRun = z.strictObject({ workflowId });
const ofActivity = z.strictObject({ workflowId, activityId });
const ofStep = z.strictObject({ workflowId, step: workflowStep });

/** A body whose values are given back as they came. */
function kept<Schema extends z.ZodType>(schema: Schema, largest: number, tooLarge: KeptJson['tooLarge']) {
  return { ...json(schema), keepsJson: keptJson(largest, tooLarge) } as const;
}

const COLLECTION = '/v1/services/workflows';

const routes = {
  'services.workflows.create': {
    method: 'POST',
    path: COLLECTION,
    summary: 'Create a workflow run, or recover the one of this identity',
    callers: ['installation'],
    body: kept(createWorkflowBody, limits.workflowInput.value, 'workflow_input_too_large'),
    answers: { 200: workflowAnswer, 201: workflowAnswer },
    refuses: ['workflow_conflict', 'workflow_input_too_large', 'workflow_run_limit'],
    rate: 'workflow',
    fillsDatabase: true,
  },
  'services.workflows.list': {
    method: 'GET',
    path: COLLECTION,
    summary: 'Runs of the installation, newest first',
    callers: ['installation'],
    query: workflowsQuery,
    answers: { 200: page(workflowRun) },
    rate: 'workflow',
  },
  'services.workflows.read': {
    method: 'GET',
    path: '/v1/services/workflows/:workflowId',
    summary: 'One workflow run',
    callers: ['installation'],
    params: ofRun,
    answers: { 200: workflowAnswer },
    rate: 'workflow',
  },
  'services.workflows.delete': {
    method: 'DELETE',
    path: '/v1/services/workflows/:workflowId',
    summary: 'Cancel a running workflow run, or remove one that ended',
    callers: ['installation'],
    params: ofRun,
    answers: { 204: null },
    rate: 'workflow',
  },
  'services.workflows.history': {
    method: 'GET',
    path: '/v1/services/workflows/:workflowId/history',
    summary: 'What happened in a workflow run, oldest first',
    callers: ['installation'],
    params: ofRun,
    query: pageQuery,
    answers: { 200: page(workflowEvent) },
    rate: 'workflow',
  },
  'services.workflows.complete': {
    method: 'POST',
    path: '/v1/services/workflows/:workflowId/complete',
    summary: 'End a workflow run with its result or error',
    callers: ['installation'],
    params: ofRun,
    body: kept(completeWorkflowBody, limits.workflowResult.value, 'workflow_result_too_large'),
    answers: { 200: workflowAnswer },
    refuses: ['workflow_not_running', 'workflow_result_too_large'],
    rate: 'workflow',
  },
  'services.workflows.claim': {
    method: 'POST',
    path: '/v1/services/workflows/:workflowId/activities/:step/claim',
    summary: 'Claim a step, or get the result it was completed with',
    callers: ['installation'],
    params: ofStep,
    body: kept(claimActivityBody, limits.workflowInput.value, 'workflow_input_too_large'),
    answers: { 200: claimAnswer },
    refuses: [
      'activity_conflict',
      'activity_leased',
      'activity_limit',
      'workflow_input_too_large',
      'workflow_not_running',
      'workflow_run_limit',
    ],
    rate: 'workflow',
    fillsDatabase: true,
  },
  'services.workflows.renew': {
    method: 'POST',
    path: '/v1/services/workflows/:workflowId/activities/:activityId/renew',
    summary: 'Renew the lease of an activity',
    callers: ['installation'],
    params: ofActivity,
    body: json(renewActivityBody),
    answers: { 200: activityAnswer },
    refuses: ['lease_lost', 'workflow_not_running'],
    rate: 'workflow',
  },
  'services.workflows.completeActivity': {
    method: 'POST',
    path: '/v1/services/workflows/:workflowId/activities/:activityId/complete',
    summary: 'Complete an activity with its result, or give it back with an error',
    callers: ['installation'],
    params: ofActivity,
    body: kept(completeActivityBody, limits.workflowInput.value, 'workflow_result_too_large'),
    answers: { 200: activityAnswer },
    refuses: ['activity_conflict', 'lease_lost', 'workflow_not_running', 'workflow_result_too_large'],
    rate: 'workflow',
  },
  'apps.workflows.list': {
    method: 'GET',
    path: '/v1/apps/:appId/workflows',
    summary: 'Workflow runs of an app, newest first, without inputs and results',
    callers: ['session'],
    params: ofApp,
    query: workflowsQuery,
    answers: { 200: page(workflowSummary) },
    rate: 'session',
  },
  'apps.workflows.read': {
    method: 'GET',
    path: '/v1/apps/:appId/workflows/:workflowId',
    summary: 'The timeline of a workflow run',
    callers: ['session'],
    params: z.strictObject({ appId, workflowId }),
    answers: { 200: workflowTimeline },
    rate: 'session',
  },
} as const satisfies Routes;

export const workflows = { limits, errors, routes } as const;
