// Installed apps: install, launch, lifecycle, logs (contract 3).
import * as z from 'zod';
import { grant } from './grants.ts';
import { limits } from './limits.ts';
import { appId, timestamp, version } from './primitives.ts';

/** Where a public UDP port of an app is reached (specification 2.8). */
export const publicPortBinding = z.strictObject({
  name: z.string(),
  protocol: z.literal('udp'),
  containerPort: z.int(),
  /** PLATFORM_PUBLIC_HOST */
  host: z.string(),
  hostPort: z.int(),
});
export type PublicPortBinding = z.infer<typeof publicPortBinding>;

export const publicPortStatus = publicPortBinding.extend({
  /** Why nothing is received on it, in a sentence or two; absent while it is open. */
  closed: z.string().optional(),
});
export type PublicPortStatus = z.infer<typeof publicPortStatus>;

export const workloadStatus = z.strictObject({
  state: z.enum(['stopped', 'starting', 'running', 'failed']),
  since: timestamp,
  /** One sentence; present when the state needs an explanation. */
  reason: z.string().optional(),
  restarts: z.int(),
  /** Of a running workload with public UDP ports, open or not. */
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

export const installedApp = z.strictObject({
  appId,
  name: z.string(),
  summary: z.string(),
  version,
  /** The newest published version, when it is newer than the installed one. */
  upgrade: version.nullable(),
  publisher: z.string(),
  icon: z.string().nullable(),
  chrome: z.enum(['auto', 'always', 'never']),
  hasFrontend: z.boolean(),
  hasWorkload: z.boolean(),
  /** Comes with the platform and follows its version; can be removed and installed again like any other. */
  system: z.boolean(),
  installedAt: timestamp,
});
export type InstalledApp = z.infer<typeof installedApp>;

export const installBody = z.strictObject({
  appId,
  version: version.optional(),
  /** Narrows what the app requested; absent grants all of it. */
  permissions: z.array(grant).max(limits.grantsPerInstallation.value).optional(),
});

export const upgradeBody = z.strictObject({ version });

export const launchDescriptor = z.strictObject({
  appId,
  /** The app's own origin. */
  origin: z.string(),
  /** Carries ticket and capabilities in its fragment only. */
  url: z.string(),
  chrome: z.enum(['auto', 'always', 'never']),
  permissions: z.array(grant),
  /** Single use: exchanged once, at once, by the frontend SDK. */
  frontendCapability: z.string(),
  backend: z.strictObject({ endpointTicket: z.string(), capability: z.string() }).nullable(),
});
export type LaunchDescriptor = z.infer<typeof launchDescriptor>;

/** What the fragment `#platform=` of a launch URL holds, as base64url of its JSON. */
export const launchFragment = z.strictObject({
  capability: z.string(),
  ticket: z.string().nullable(),
  dataPlane: z.string().nullable(),
  /** The origin of the platform's services. */
  api: z.string(),
});
export type LaunchFragment = z.infer<typeof launchFragment>;

/** What an endpoint ticket of kind `pet1.` holds, as base64url of its JSON: where to reach the Gateway. */
export const endpointTicket = z.strictObject({ url: z.string() });

export const exchangeBody = z.strictObject({ capability: z.string().min(20).max(100) });
export const exchangeAnswer = z.strictObject({ appId, capability: z.string(), expiresAt: timestamp });
export type ExchangeAnswer = z.infer<typeof exchangeAnswer>;

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

export const servicesApp = z.strictObject({
  appId,
  name: z.string(),
  summary: z.string(),
  version,
  icon: z.string().nullable(),
  installed: z.boolean(),
  running: z.boolean(),
});
export type ServicesApp = z.infer<typeof servicesApp>;
