// The backend of an installed app: its state, what it uses, and its log (contract 3).
import * as z from 'zod';
import type { BackendStatus } from '../bridge.ts';
import { type Errors, KiB, type Limits, type Routes } from '../domain.ts';
import { appId, MOST_COUNTED, portNumber, timestamp } from '../primitives.ts';
import { emptyBody, json, ofApp, page } from './common.ts';

const limits = {
  workloadLogLines: { value: 1_000, unit: 'items', meaning: 'log lines kept for an installation' },
  workloadLogLine: { value: 4 * KiB, unit: 'bytes', meaning: 'one log line; the rest is cut off' },
  workloadStartSeconds: {
    value: 15,
    unit: 'seconds',
    meaning: 'time to wait for a workload to start before answering 503',
  },
} as const satisfies Limits;

const errors = {
  workload_unavailable: {
    status: 503,
    title: 'The backend of the app is not available.',
    help: 'It is starting (try again after `Retry-After`), stopped, failed to start, or does not listen on its PORT, or it came with an update and its owner has not allowed it yet. Settings shows the reason and the log.',
  },
} as const satisfies Errors;

/** Where a public UDP port of an app is reached (specification 2.8). */
export const publicPortBinding = z.strictObject({
  name: z.string(),
  protocol: z.literal('udp'),
  containerPort: portNumber,
  /** PLATFORM_PUBLIC_HOST */
  host: z.string(),
  hostPort: portNumber,
});
export type PublicPortBinding = z.infer<typeof publicPortBinding>;

export const publicPortStatus = publicPortBinding.extend({
  /** Why nothing is received on it, in a sentence or two; absent while it is open. */
  closed: z.string().optional(),
});
export type PublicPortStatus = z.infer<typeof publicPortStatus>;

/**
 * Who stopped a backend. `owner`, `app` (another app of the account, `appId`) and `operator`: it stays stopped until it is
 * started. `pause`: everything of the account is paused. `suspension`: the operator suspended the account. `platform`: see
 * `reason`. `idle`: nobody uses it; it starts on demand.
 */
export const stoppedBy = z.strictObject({
  kind: z.enum(['owner', 'app', 'operator', 'pause', 'suspension', 'platform', 'idle']),
  /** Of kind `app` only. */
  appId: appId.optional(),
});
export type StoppedBy = z.infer<typeof stoppedBy>;

export const stopBody = z.strictObject({
  /** The app that asked the shell for it; absent when the person did. */
  byApp: appId.optional(),
});

export const workloadStatus = z.strictObject({
  state: z.enum(['stopped', 'starting', 'running', 'failed']),
  since: timestamp,
  /** One sentence; present when the state needs an explanation. */
  reason: z.string().optional(),
  restarts: z.int().min(0).max(MOST_COUNTED),
  /** Present while `state` is `stopped`. */
  stoppedBy: stoppedBy.optional(),
  /** Those that have a number on its machine, open or not. */
  publicPorts: z.array(publicPortStatus).optional(),
});
export type WorkloadStatus = z.infer<typeof workloadStatus>;

const counted = z.int().min(0);
/** A figure that this machine may not be able to tell. */
const known = counted.nullable();
const bytesBothWays = z.strictObject({ sentBytes: counted, receivedBytes: counted });

/** What one run of a workload uses and has used. All bytes are seen from the workload: sent is what left it. */
export const workloadUse = z.strictObject({
  cpu: z.strictObject({
    /** Processor time since the start of the run, of all processors together. */
    milliseconds: known,
    /** Processors in use lately: 0.5 is half of one. */
    share: z.number().min(0).nullable(),
    /** Processors it may use. */
    limit: z.number(),
  }),
  memory: z.strictObject({ bytes: known, peakBytes: known, limitBytes: counted }),
  network: z.strictObject({
    /** Its own requests to the services of the platform, through its Gateway. */
    outbound: bytesBothWays.extend({ requests: counted }),
    /** Requests of browsers and native clients to it. */
    inbound: bytesBothWays.extend({ requests: counted }),
    /** Its public network; `null` when it has none, or the machine cannot count it. */
    public: bytesBothWays.nullable(),
  }),
  /** Lines it wrote too fast to be kept. */
  logLinesDropped: counted,
});
export type WorkloadUse = z.infer<typeof workloadUse>;

/** The status as its owner sees it. */
export const workloadDetail = workloadStatus.extend({
  lastExit: z.strictObject({ at: timestamp, reason: z.string() }).nullable(),
  /** What its machine does not hold it to, or does not give it although it is granted: one sentence each. */
  unenforced: z.array(z.string()),
  /** `null` while nothing runs. */
  usage: workloadUse.nullable(),
});
export type WorkloadDetail = z.infer<typeof workloadDetail>;

export const logEntry = z.strictObject({
  at: timestamp,
  stream: z.enum(['stdout', 'stderr', 'system']),
  line: z.string(),
});
export type LogEntry = z.infer<typeof logEntry>;

/** Newest lines first; the cursor leads to older ones. */
export const logQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(limits.workloadLogLines.value).default(200),
  cursor: z.string().max(512).optional(),
});

export const logStreamQuery = z.strictObject({
  /** Lines to begin with; a stream that is resumed with `Last-Event-ID` begins where it ended. */
  newest: z.coerce.number().int().min(0).max(limits.workloadLogLines.value).default(200),
});

/** The one event of a log stream, oldest line first. Its id is where to resume. */
export const logEvent = z.strictObject({
  event: z.literal('lines'),
  data: z.strictObject({
    items: z.array(logEntry),
    /** Lines before these that were removed from the log before this reader took them. */
    missed: z.int(),
    /** Only in the first event of a new stream: the cursor of `GET …/logs` that leads to older lines. */
    older: z.string().nullable().optional(),
  }),
});
export type LogEvent = z.infer<typeof logEvent>;

const routes = {
  'apps.start': {
    method: 'POST',
    path: '/v1/apps/:appId/start',
    summary: 'Start the backend',
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'runs what is installed' },
    params: ofApp,
    body: json(emptyBody.optional()),
    answers: { 200: workloadDetail },
    refuses: ['runtime_paused', 'workload_unavailable'],
    rate: 'session',
  },
  'apps.stop': {
    method: 'POST',
    path: '/v1/apps/:appId/stop',
    summary: 'Stop the backend',
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'stops what is installed, which can be started again' },
    params: ofApp,
    body: json(stopBody.optional()),
    answers: { 200: workloadDetail },
    refuses: ['workload_unavailable'],
    rate: 'session',
  },
  'apps.status': {
    method: 'GET',
    path: '/v1/apps/:appId/status',
    summary: 'State of the backend',
    callers: ['session'],
    params: ofApp,
    answers: { 200: workloadDetail },
    refuses: ['workload_unavailable'],
    rate: 'session',
  },
  'apps.logs': {
    method: 'GET',
    path: '/v1/apps/:appId/logs',
    summary: 'Log of the backend, newest first; for authors, of apps of their own',
    callers: ['session', 'author'],
    params: ofApp,
    query: logQuery,
    answers: { 200: page(logEntry) },
    refuses: ['workload_unavailable'],
    rate: 'session',
  },
  'apps.logs.stream': {
    method: 'GET',
    path: '/v1/apps/:appId/logs/stream',
    summary: 'Live log of the backend (SSE, resumable with Last-Event-ID); for authors, of apps of their own',
    callers: ['session', 'author'],
    params: ofApp,
    query: logStreamQuery,
    answers: { 200: 'text/event-stream' },
    refuses: ['workload_unavailable', 'concurrency_limited'],
    rate: 'session',
  },
} as const satisfies Routes;

export const workloads = { limits, errors, routes } as const;

declare module '../bridge-calls.ts' {
  interface BridgeCalls {
    /** Grant `runtime.status.read`, for the apps it covers. Without `appId` every one of them that is installed and has a backend. */
    'runtime.status': {
      params: { readonly appId?: string };
      result: { readonly items: readonly BackendStatus[] };
    };
  }
}
