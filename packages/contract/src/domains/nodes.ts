// Between core and the Runtime of a node: how it joins and proves itself, status, control (architecture, "The parts").
// Not a public interface; versioned with the platform.
import * as z from 'zod';
import { type Limits, MiB, type Routes } from '../domain.ts';
import { processorKinds } from '../executable.ts';
import { plainLine, plainLogLine } from '../plain-text.ts';
import { installationId, MOST_COUNTED, portNumber, timestamp } from '../primitives.ts';
import { readableLine } from '../text.ts';
import { emptyBody, json } from './common.ts';
import { machineLoad } from './fleet.ts';
import {
  ANONYMOUS_BYTES,
  challengeMemberBody,
  joinMemberBody,
  memberChallenge,
  memberName,
  proveMemberBody,
} from './members.ts';
import { machineGift, machineGifts } from './offers.ts';
import { workloadRuntime, workloadRuntimes } from './packages.ts';
import { logEntry, publicPortStatus, workloadStatus, workloads, workloadUse } from './workloads.ts';

const limits = {
  nodeTokenSeconds: {
    value: 3_600,
    unit: 'seconds',
    meaning: 'lifetime of the enrolment token of a node or an Ingress',
  },
  nodeCredentialSeconds: {
    value: 3_600,
    unit: 'seconds',
    meaning: 'lifetime of the credential of a node or an Ingress, which renews it at half',
  },
  backendCalls: {
    value: 64,
    unit: 'items',
    meaning: 'concurrent requests of one core to one backend; more are `concurrency_limited`',
  },
  nodeSentence: {
    value: 2_000,
    unit: 'characters',
    meaning: 'one sentence that a node reports, such as the reason of a state; the rest is cut off',
  },
  nodeSentences: {
    value: 32,
    unit: 'items',
    meaning: 'sentences that a node reports of one backend as not enforced; the rest is dropped',
  },
  nodeAnswer: {
    value: 2 * MiB,
    unit: 'bytes',
    meaning: 'one answer of a node, or one line of a log stream, that core reads; a longer one fails',
  },
  nodeIntake: {
    value: 40 * MiB,
    unit: 'bytes',
    meaning: 'what one core holds at one time of the answers of one node; more fail',
  },
  nodesIntake: {
    value: 96 * MiB,
    unit: 'bytes',
    meaning: 'what one core holds at one time of the answers of all nodes; beyond it the node with the most loses one',
  },
  nodeRate: {
    value: 8 * MiB,
    unit: 'bytes',
    meaning: 'what one core takes of the answers of one node in a second; the rest waits on the node',
  },
  nodeChallengeSeconds: {
    value: 60,
    unit: 'seconds',
    meaning: 'lifetime of the nonce that a node or an Ingress signs for a credential',
  },
} as const satisfies Limits;

/** What a node is made of, and what runs its workloads; shown to the operator and counted at placement. */
const nodeMachine = z.strictObject({
  /** Memory that workloads may take together. */
  memoryMiB: z
    .int()
    .min(1)
    .max(2 ** 31 - 1),
  cpus: z.number().min(0.01).max(100_000),
  /** Disk that the volumes of this node may take together; absent from nodes of former versions. */
  diskMiB: z
    .int()
    .min(0)
    .max(2 ** 31 - 1)
    .optional(),
  /** E.g. `process`. */
  driver: z
    .string()
    .max(64)
    .regex(...readableLine),
  /** What confines workloads, in words. */
  mechanism: z
    .string()
    .max(200)
    .regex(...readableLine),
  runtimes: z.array(workloadRuntime).max(workloadRuntimes.length),
  /** Absent where no executable runs, and from nodes of former versions. */
  processor: z.enum(processorKinds).optional(),
  /** Of the platform's software there. */
  version: z
    .string()
    .max(64)
    .regex(...readableLine),
  /** What it can give backends besides their runtime; absent from nodes of former versions. */
  gives: z.array(machineGift).max(machineGifts.length).optional(),
  /** Identity of the folder that it shares with other nodes for volumes; absent when it has none. */
  sharedStore: z.uuid().optional(),
});
export type NodeMachine = z.infer<typeof nodeMachine>;

export const registerNodeBody = z.strictObject({
  /**
   * Where core reaches the control side of the node: plain http on the loopback interface for a node on core's machine,
   * https under the key of the node for any other, or `iroh://<key>/control` where it is reached on a connection of its own.
   */
  controlUrl: z.url(),
  /** What core presents there as Bearer. */
  controlCredential: z.string().min(20).max(200),
  /**
   * Where clients reach the endpoint side: PLATFORM_NODE_ORIGIN. Absent from a node that is reached over iroh and has none:
   * they reach it through Ingresses, at a host that core chooses.
   */
  inboundOrigin: z.url().optional(),
  machine: nodeMachine.optional(),
  /** It asks core about the capabilities of clients. Absent from nodes of former versions, which are given one to compare. */
  asksCapabilities: z.literal(true).optional(),
  /** Where Ingresses reach it. Absent from nodes that serve no public requests, such as those of former versions. */
  publicSide: z
    .strictObject({
      /**
       * Plain http on the loopback interface for a node on the machine of its Ingress, https under the key of the node for
       * any other. An origin: hosts and paths of public requests stay as they are.
       */
      url: z.url(),
      /** `pni_…`: what an Ingress presents there as Bearer, besides its key over https. */
      credential: z.string().min(20).max(200),
    })
    .optional(),
});

export const nodeName = memberName;

export const nodeCredential = z.strictObject({ nodeId: z.string(), nodeCredential: z.string(), expiresAt: timestamp });
export type NodeCredential = z.infer<typeof nodeCredential>;

/** A node that reports absurd totals spoils a figure and nothing else. */
const tally = z.int().min(0).max(1e15);
const tallies = z.strictObject({ requests: tally, sentBytes: tally, receivedBytes: tally });

export const nodeHeartbeatBody = z.strictObject({
  load: machineLoad.optional(),
  /** Its disk is full up to the reserve: it takes no further backends until there is space. Absent: it is not. */
  diskFull: z.boolean().optional(),
  /** What went through all Gateways of the node since its Runtime started; a new `run` counts from zero. */
  traffic: z.strictObject({ run: z.uuid(), outbound: tallies, inbound: tallies }).optional(),
});
export type NodeHeartbeat = z.infer<typeof nodeHeartbeatBody>;

export const nodeLease = z.strictObject({
  /**
   * So long after it *sent* the heartbeat that was answered, a node may run what core may place elsewhere. `null`:
   * core never takes this node for lost.
   */
  leaseMilliseconds: z.int().nullable(),
  heartbeatMilliseconds: z.int(),
});
export type NodeLease = z.infer<typeof nodeLease>;

/** A node that reports an absurd number spoils a figure of one backend, and must not make core refuse the report on all others. */
const restarts = z
  .int()
  .min(0)
  .overwrite((count) => Math.min(count, MOST_COUNTED));
const reportedPort = z.int();

/**
 * A sentence that a node says. A node is another machine, so none of its words is believed to be harmless; and a bad
 * character in one must not make core refuse the reports on all other workloads.
 */
const reported = z.string().overwrite((text) => plainLine(text, limits.nodeSentence.value));

export const installationStatus = workloadStatus.omit({ stoppedBy: true }).extend({
  installationId,
  reason: reported.optional(),
  restarts,
  lastExit: z.strictObject({ at: timestamp, reason: reported }).nullable(),
  /** Limits that this machine does not enforce, and grants that it cannot give: one sentence for a person each. */
  unenforced: z.array(reported).overwrite((items) => items.slice(0, limits.nodeSentences.value)),
  publicPorts: z
    .array(
      publicPortStatus.extend({
        name: reported,
        host: reported,
        closed: reported.optional(),
        containerPort: reportedPort,
        hostPort: reportedPort,
      }),
    )
    .overwrite((items) => items.filter(hasPorts).slice(0, limits.nodeSentences.value))
    .optional(),
});
export type InstallationStatus = z.infer<typeof installationStatus>;

/** Answer of the node's `/control/installations/:id/start|stop|status`: what is reported, and what it uses right now. */
export const installationDetail = installationStatus.extend({ usage: workloadUse.nullable() });
export type InstallationDetail = z.infer<typeof installationDetail>;

function hasPorts({ containerPort, hostPort }: { readonly containerPort: number; readonly hostPort: number }): boolean {
  return [containerPort, hostPort].every((port) => portNumber.safeParse(port).success);
}

export const nodeStatusBody = z.strictObject({ items: z.array(installationStatus).max(10_000) });

/** What a node refuses a call of core with: the part of its problem document that core passes on. */
export const nodeRefusal = z.object({
  code: z.string().overwrite((code) => plainLine(code, 64)),
  detail: reported.optional(),
});

/** The Runtime marks a line that it cut with one character more. */
const LONGEST_LOG_LINE = workloads.limits.workloadLogLine.value + 1;
/** Of the shortest entries, 256 KiB of a log file hold fewer. */
const MOST_ENTRIES = 8_192;
const reportedLogEntry = logEntry.extend({
  line: z.string().overwrite((line) => plainLogLine(line, LONGEST_LOG_LINE)),
});
/** Where to go on reading, in words of the node alone. */
const position = z
  .string()
  .max(200)
  .regex(...readableLine)
  .nullable();

/**
 * Entries of an answer, looked at one by one only if there are no more than a node sends: what is wrong with each of a
 * million would be listed.
 */
const reportedLog = z.array(z.unknown()).max(MOST_ENTRIES).pipe(z.array(reportedLogEntry));

/** Answer of the node's `GET /control/installations/:id/logs?limit=&before=`, newest first. */
export const nodeLogs = z.strictObject({ items: reportedLog, before: position });
export type NodeLogs = z.infer<typeof nodeLogs>;

/** The node's answer to `GET /control/installations/:id/volume/use`. */
export const nodeVolumeUse = z.object({ bytes: z.int().min(0).nullable() });

/**
 * One line of the node's `GET /control/installations/:id/logs/stream`: log lines in their order. The answer is a line of
 * JSON for each piece, and an empty line from time to time.
 */
export const nodeLogPiece = z.strictObject({
  items: reportedLog,
  /** Position after these lines; the next stream may begin there. */
  last: z.int().min(0),
  /** Lines before these that were removed from the log before this reader took them. */
  missed: z.int().min(0),
  /** Only in the first piece of a stream that began with the newest lines: where older ones are. */
  before: position.optional(),
});
export type NodeLogPiece = z.infer<typeof nodeLogPiece>;

/**
 * Field of the node's answers to `/control/installations/:id/call/<path>`, with which core sends a request of its own to a
 * backend: `workload` on what the workload answered, whatever that says; `platform`, or none, on a refusal. The workload
 * cannot set it.
 */
export const ANSWERED_BY = 'platform-answered-by';

const routes = {
  'node.join': {
    method: 'POST',
    path: '/v1/node/join',
    summary: 'Join as a node, with the operator’s enrolment token',
    callers: ['anonymous'],
    body: json(joinMemberBody, ANONYMOUS_BYTES),
    answers: { 201: nodeCredential },
    refuses: ['unauthenticated'],
    rate: 'join',
  },
  'node.challenge': {
    method: 'POST',
    path: '/v1/node/challenge',
    summary: 'A nonce that a node signs once, within a minute',
    callers: ['anonymous'],
    body: json(challengeMemberBody, ANONYMOUS_BYTES),
    answers: { 200: memberChallenge },
    rate: 'join',
  },
  'node.credential': {
    method: 'POST',
    path: '/v1/node/credential',
    summary: 'A node’s next credential, in exchange for a signature by its key; the previous one expires',
    callers: ['anonymous'],
    body: json(proveMemberBody, ANONYMOUS_BYTES),
    answers: { 200: nodeCredential },
    refuses: ['unauthenticated'],
    rate: 'join',
  },
  'node.heartbeat': {
    method: 'POST',
    path: '/v1/node/heartbeat',
    summary: 'Heartbeat: renews the node’s lease',
    callers: ['node'],
    body: json(nodeHeartbeatBody.optional()),
    answers: { 200: nodeLease },
    rate: 'none',
  },
  'node.leave': {
    method: 'POST',
    path: '/v1/node/leave',
    summary: 'Return the node’s lease: it has stopped everything, and what can move goes to other nodes',
    callers: ['node'],
    body: json(emptyBody.optional()),
    answers: { 204: null },
    rate: 'none',
  },
  'node.register': {
    method: 'POST',
    path: '/v1/node/register',
    summary: 'Report the address of this node',
    callers: ['node'],
    body: json(registerNodeBody),
    answers: { 204: null },
    rate: 'none',
  },
  'node.status': {
    method: 'POST',
    path: '/v1/node/status',
    summary: 'Report workload states',
    callers: ['node'],
    body: { ...json(nodeStatusBody, 4 * 1024 * 1024), cleansText: true },
    answers: { 204: null },
    rate: 'none',
  },
} as const satisfies Routes;

export const nodes = { limits, routes } as const;
