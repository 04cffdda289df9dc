// Schedules (contract 4d): at which times core calls a trigger of an app's backend. One app manages those of an account:
// the one with the system role.
import * as z from 'zod';
import { type Errors, KiB, keptJson, type Limits, type Metrics, type Routes } from '../domain.ts';
import { appId, scheduleId, timestamp } from '../primitives.ts';
import { readableLine, visible } from '../text.ts';
import { json, page, pageQuery } from './common.ts';
import { triggerName } from './packages.ts';

const limits = {
  schedules: { value: 100, unit: 'items', meaning: 'schedules of one account' },
  schedulePayload: { value: 4 * KiB, unit: 'bytes', meaning: 'payload of a schedule, as compact JSON' },
  scheduleName: { value: 80, unit: 'characters', meaning: 'name of a schedule' },
  scheduleCron: { value: 256, unit: 'characters', meaning: 'cron line of a schedule' },
  scheduleRetrySeconds: {
    value: 3_600,
    unit: 'seconds',
    meaning: 'time for which a run of a schedule that was not delivered is tried again',
  },
  scheduleLateSeconds: {
    value: 30,
    unit: 'seconds',
    meaning: 'delay beyond which a run counts as missed, and `misfire` decides',
  },
  scheduleAttemptSeconds: {
    value: 90,
    unit: 'seconds',
    meaning: 'one attempt to deliver a run, with the start of the backend',
  },
  scheduleAnswer: { value: 64 * KiB, unit: 'bytes', meaning: 'answer of a trigger that is read' },
  scheduleWaiting: {
    value: 64,
    unit: 'items',
    meaning: 'runs of one schedule that may wait for delivery; a further one is skipped',
  },
  scheduleConcurrency: { value: 8, unit: 'items', meaning: 'runs of one account that are delivered at the same time' },
  schedulePreview: { value: 5, unit: 'items', meaning: 'times in a preview of a schedule' },
} as const satisfies Limits;

const errors = {
  schedule_limit: {
    status: 429,
    title: 'The account has the maximum number of schedules.',
    help: 'An account has at most 100 schedules. Delete one first.',
  },
} as const satisfies Errors;

const metrics = {
  platform_core_schedule_runs_total: {
    type: 'counter',
    labels: ['outcome'],
    meaning: 'Runs of schedules that ended: delivered, failed, or skipped on their way.',
  },
  platform_core_schedule_runs_waiting: {
    type: 'gauge',
    labels: [],
    meaning: 'Runs of schedules that are due and not delivered yet.',
  },
} as const satisfies Metrics;

/**
 * Minute, hour, day of month, month and day of week, as POSIX and Vixie cron have them: numbers, names of months and days,
 * lists, ranges and steps. A day must match both of its fields when one begins with `*`, and else either. Core also refuses values out of range and lines without any future time.
 */
export const cronLine = z
  .string()
  .max(limits.scheduleCron.value)
  .overwrite((text) => text.trim().replaceAll(/[ \t]+/g, ' '))
  .refine((text) => text.split(' ').length === 5, {
    error: 'must have five fields: minute, hour, day of month, month, day of week',
    abort: true,
  })
  .refine(
    (text) => text.split(' ').every((field) => FIELD.test(field)),
    'may hold numbers, JAN to DEC, SUN to SAT, and * , - / only',
  );
const VALUE = '(?:\\d{1,2}|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|sun|mon|tue|wed|thu|fri|sat)';
const PART = `(?:\\*|${VALUE}(?:-${VALUE})?)(?:/\\d{1,2})?`;
const FIELD = new RegExp(`^${PART}(?:,${PART})*$`, 'i');

/** A name of the IANA database, such as Europe/Berlin. Whether there is such a zone is for core to say. */
export const timeZone = z
  .string()
  .max(64)
  .regex(/^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/, 'must be an IANA time zone such as Europe/Berlin');

const name = z
  .string()
  .trim()
  .min(1)
  .max(limits.scheduleName.value)
  .regex(...readableLine)
  .regex(...visible);

export const scheduleTarget = z.strictObject({ appId, trigger: triggerName });
export const misfire = z.enum(['once', 'skip']);
/** What happens to runs that were missed while the platform was down or the account was paused. */
export type Misfire = z.infer<typeof misfire>;

/** It reaches the backend as it came, `__proto__` included, which a record would drop. */
const payload = z.custom<Readonly<Record<string, unknown>>>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'must be an object',
);

export const createScheduleBody = z.strictObject({
  name,
  cron: cronLine,
  timeZone,
  target: scheduleTarget,
  payload: payload.optional(),
  enabled: z.boolean().default(true),
  misfire: misfire.default('once'),
});
export type CreateSchedule = z.input<typeof createScheduleBody>;

/** What is named changes; `payload` null removes it. */
export const changeScheduleBody = z
  .strictObject({
    name: name.optional(),
    cron: cronLine.optional(),
    timeZone: timeZone.optional(),
    target: scheduleTarget.optional(),
    payload: payload.nullable().optional(),
    enabled: z.boolean().optional(),
    misfire: misfire.optional(),
  })
  .refine((change) => Object.values(change).some((value) => value !== undefined), 'must change something');
export type ChangeSchedule = z.input<typeof changeScheduleBody>;

export const scheduleOutcome = z.enum(['delivered', 'failed', 'skipped']);
export type ScheduleOutcome = z.infer<typeof scheduleOutcome>;

export const schedule = z.strictObject({
  id: scheduleId,
  name: z.string(),
  cron: z.string(),
  timeZone: z.string(),
  target: z.strictObject({ appId: z.string(), trigger: z.string() }),
  payload: payload.optional(),
  enabled: z.boolean(),
  misfire,
  /** `null` while it is paused. */
  nextRunAt: timestamp.nullable(),
  /** How the last attempt ended. A `failed` one may be tried again, which `detail` says. */
  lastRun: z.strictObject({ at: timestamp, outcome: scheduleOutcome, detail: z.string().optional() }).nullable(),
});
export type Schedule = z.infer<typeof schedule>;
export const scheduleAnswer = z.strictObject({ schedule });

export const schedulePreviewQuery = z.strictObject({ cron: cronLine, timeZone });
export const schedulePreview = z.strictObject({ times: z.array(timestamp) });

/** An installed app that declares triggers. */
export const scheduleTargetApp = z.strictObject({
  appId: z.string(),
  name: z.string(),
  triggers: z.array(z.string()),
});
export type ScheduleTargetApp = z.infer<typeof scheduleTargetApp>;

/** What a backend gets, as `POST <path of the trigger>` with `Platform-Trigger: schedule` and `Idempotency-Key`. */
export const scheduleFiring = z.strictObject({
  scheduleId,
  name: z.string(),
  /** When this attempt began. */
  firedAt: timestamp,
  /** The time that was due: the same for every attempt. */
  scheduledFor: timestamp,
  payload: payload.nullable(),
});
export type ScheduleFiring = z.infer<typeof scheduleFiring>;

const COLLECTION = '/v1/services/schedules';
const ONE = '/v1/services/schedules/:scheduleId';
const ofSchedule = z.strictObject({ scheduleId });

/** What every route of schedules has: only the app that manages them calls it. */
const managed = {
  callers: ['frontend', 'installation'],
  grant: { id: 'schedules.manage', resource: '*' },
  systemRole: 'schedules.manager-ui',
  rate: 'service',
} as const;

const KEPT = keptJson(limits.schedulePayload.value, 'payload_too_large');

const routes = {
  'services.schedules.list': {
    ...managed,
    method: 'GET',
    path: COLLECTION,
    summary: 'Schedules of the account, oldest first',
    query: pageQuery,
    answers: { 200: page(schedule) },
  },
  'services.schedules.create': {
    ...managed,
    method: 'POST',
    path: COLLECTION,
    summary: 'Add a schedule',
    body: { ...json(createScheduleBody), keepsJson: KEPT },
    answers: { 201: scheduleAnswer },
    refuses: ['not_found', 'schedule_limit'],
    fillsDatabase: true,
  },
  'services.schedules.targets': {
    ...managed,
    method: 'GET',
    path: '/v1/services/schedules/targets',
    summary: 'Installed apps that declare triggers',
    query: pageQuery,
    answers: { 200: page(scheduleTargetApp) },
  },
  'services.schedules.preview': {
    ...managed,
    method: 'GET',
    path: '/v1/services/schedules/preview',
    summary: 'The next times of a cron line in a time zone',
    query: schedulePreviewQuery,
    answers: { 200: schedulePreview },
  },
  'services.schedules.read': {
    ...managed,
    method: 'GET',
    path: ONE,
    summary: 'One schedule',
    params: ofSchedule,
    answers: { 200: scheduleAnswer },
  },
  'services.schedules.change': {
    ...managed,
    method: 'PATCH',
    path: ONE,
    summary: 'Change, pause or resume a schedule',
    params: ofSchedule,
    body: { ...json(changeScheduleBody), keepsJson: KEPT },
    answers: { 200: scheduleAnswer },
    refuses: ['schedule_limit'],
  },
  'services.schedules.delete': {
    ...managed,
    method: 'DELETE',
    path: ONE,
    summary: 'Delete a schedule, with its runs that wait for delivery',
    params: ofSchedule,
    answers: { 204: null },
  },
  'services.schedules.run': {
    ...managed,
    method: 'POST',
    path: '/v1/services/schedules/:scheduleId/run',
    summary: 'Run a schedule now, also one that is paused',
    params: ofSchedule,
    answers: { 202: scheduleAnswer },
    refuses: ['concurrency_limited'],
    fillsDatabase: true,
  },
} as const satisfies Routes;

export const schedules = { limits, errors, routes, metrics } as const;
