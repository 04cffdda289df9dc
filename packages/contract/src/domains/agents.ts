// Agents (contract 4g): backends of runtime `agent`, whose worker comes with the platform. What their manifest says, and what
// the worker answers to the app's own frontend, which reaches it as any backend.
import * as z from 'zod';
import { type Errors, KiB, type Limits, MiB } from '../domain.ts';
import { packagePath } from '../package-path.ts';
import { timestamp } from '../primitives.ts';
import { sizeText } from '../sizes.ts';
import { storable, visible } from '../text.ts';
import { common } from './common.ts';
import { modelId, providerId } from './intelligence.ts';

const limits = {
  agentInstructions: { value: 64 * KiB, unit: 'bytes', meaning: 'instructions of an agent, a file of its package' },
  agentToolCalls: {
    value: 50,
    unit: 'items',
    meaning: 'tool calls of one turn of an agent, unless its manifest says otherwise',
  },
  agentToolCallsMaximum: { value: 200, unit: 'items', meaning: 'what `maxToolCalls` of an agent may be' },
  agentTurnTokens: {
    value: 250_000,
    unit: 'items',
    meaning: 'tokens of one turn of an agent; the model call that passes them is the last one of the turn',
  },
  agentContextTokens: {
    value: 96_000,
    unit: 'items',
    meaning: 'estimated tokens of a session that an agent shows its model; the oldest are left out',
  },
  agentTools: {
    value: 128,
    unit: 'items',
    meaning: 'tools that an agent offers its model; those come first whose calls need no approval',
  },
  agentToolResult: {
    value: 48 * KiB,
    unit: 'characters',
    meaning: 'result of a tool as an agent shows it to its model; the rest is cut off and said to be',
  },
  agentShownText: {
    value: 4 * KiB,
    unit: 'characters',
    meaning: 'text in the arguments of a tool call as a session of an agent shows it; its model sees all of it',
  },
  agentMessage: { value: 32 * KiB, unit: 'bytes', meaning: 'message to an agent' },
  agentRequest: { value: 64 * KiB, unit: 'bytes', meaning: 'request body of an agent’s routes' },
  agentSessions: { value: 500, unit: 'items', meaning: 'sessions of one agent' },
  agentSessionSize: {
    value: 16 * MiB,
    unit: 'bytes',
    meaning: 'session of an agent; a full one takes no more messages',
  },
  agentSessionsInUse: {
    value: 48 * MiB,
    unit: 'bytes',
    meaning: 'sessions of one agent in sum that have a turn or an open event stream',
  },
  agentToolsSize: {
    value: 96 * KiB,
    unit: 'characters',
    meaning: 'descriptions and schemas in sum of the tools that an agent offers its model',
  },
  agentTurnsAtOnce: {
    value: 4,
    unit: 'items',
    meaning: 'turns of one agent that are under way, in sessions of their own',
  },
  agentStreams: { value: 16, unit: 'items', meaning: 'event streams of one agent that are open at the same time' },
} as const satisfies Limits;

const errors = {
  agent_busy: {
    status: 409,
    title: 'The agent is at work in this session.',
    help: 'A session has one turn at a time. Wait for its event `idle`, or cancel the turn.',
  },
  agent_session_full: {
    status: 409,
    title: 'This session is full.',
    help: 'A session keeps at most 16 MiB. Begin another one, or delete sessions that nobody needs.',
  },
  agent_storage_full: {
    status: 409,
    title: 'The storage of this agent is full.',
    help: 'Sessions are kept in the volume of the app. Delete sessions that nobody needs, or free space on the disk.',
  },
} as const satisfies Errors;

/** What the worker refuses with. */
export const agentErrors = {
  ...errors,
  invalid_request: common.errors.invalid_request,
  not_found: common.errors.not_found,
  method_not_allowed: common.errors.method_not_allowed,
  payload_too_large: common.errors.payload_too_large,
  unsupported_media_type: common.errors.unsupported_media_type,
  concurrency_limited: common.errors.concurrency_limited,
  internal_error: common.errors.internal_error,
} as const;

/** `workload.agent` of a manifest. */
export const agentManifest = z.strictObject({
  /** A file of `workload/` with text for the model. A schema of its own, so that its description is of no other member. */
  instructions: packagePath.clone(),
  /** Default: the first model that the grants of `intelligence.use` and the providers offer. */
  model: z.strictObject({ provider: providerId, id: modelId }).optional(),
  webSearch: z.boolean().default(false),
  maxToolCalls: z.int().min(1).max(limits.agentToolCallsMaximum.value).default(limits.agentToolCalls.value),
});
export type AgentManifest = z.infer<typeof agentManifest>;

export const agentSessionId = z.string().regex(/^ses-[0-9a-f-]{36}$/, 'must be an id that starts with ses-');

const agentModel = z.strictObject({ provider: z.string(), id: z.string() });

/** Why it cannot answer or did not, for a person, and what to do about it. */
export const agentProblem = z.strictObject({
  code: z.string(),
  /** One or two sentences for the person who uses it. */
  message: z.string(),
  /** What the operator of the platform can do, where the person cannot. */
  operator: z.string().optional(),
});
export type AgentProblem = z.infer<typeof agentProblem>;

/** `GET /v1/agent`. */
export const agentAnswer = z.strictObject({
  agent: z.strictObject({
    /** `null` where it has none, which `problem` explains. */
    model: agentModel.nullable(),
    webSearch: z.boolean(),
    limits: z.strictObject({ toolCalls: z.int(), tokens: z.int() }),
    tools: z.array(
      z.strictObject({
        /** As the model and the events call it. */
        name: z.string(),
        /** As the hub calls it. */
        tool: z.string(),
        /** What its app says of it. */
        description: z.string(),
        /** The person decides on every call. */
        asks: z.boolean(),
      }),
    ),
    problem: agentProblem.nullable(),
  }),
});
export type AgentAnswer = z.infer<typeof agentAnswer>;

export const agentSession = z.strictObject({
  id: agentSessionId,
  /** The beginning of its first message. */
  title: z.string(),
  state: z.enum(['idle', 'running']),
  createdAt: timestamp,
  updatedAt: timestamp,
});
export type AgentSession = z.infer<typeof agentSession>;

/** `POST /v1/agent/sessions/:id/messages`. */
export const agentMessageBody = z.strictObject({
  text: z
    .string()
    .refine(
      (text) => new TextEncoder().encode(text).length <= limits.agentMessage.value,
      `must have at most ${sizeText(limits.agentMessage.value)}`,
    )
    .refine(...storable)
    .regex(...visible)
    .min(1),
});

/** `POST /v1/agent/sessions`. */
export const agentSessionBody = z.strictObject({
  /** Begins with what happened in another session before this event of it, a message of the person's. */
  branch: z.strictObject({ session: agentSessionId, sequence: z.int().min(1) }).optional(),
});

/** `GET /v1/agent/sessions/:id`. */
export const agentSessionQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(common.limits.pageMaximum.value).default(common.limits.pageDefault.value),
  /** Events before this one. Default: the newest. */
  before: z.coerce.number().int().min(1).optional(),
});

export const stopReasons = ['done', 'cancelled', 'limit', 'failed', 'interrupted'] as const;

const turn = z.string();
const call = z.string();

/** What happened in a session, in order; each is an event of its stream, whose id is `sequence`. */
export const agentEvents = {
  message: z.strictObject({ message: z.string(), turn, role: z.enum(['user', 'assistant']), text: z.string() }),
  'tool.call': z.strictObject({ call, turn, tool: z.string(), arguments: z.unknown() }),
  'tool.result': z.strictObject({
    call,
    turn,
    tool: z.string(),
    isError: z.boolean(),
    text: z.string(),
    /** Something of it was left out. */
    cut: z.boolean(),
  }),
  proposal: z.strictObject({
    call,
    turn,
    proposal: z.looseObject({ id: z.string(), state: z.string(), tool: z.string(), expiresAt: z.string() }),
  }),
  /** The platform may be asking the person about this search. */
  consent: z.strictObject({ call, turn, query: z.string() }),
  failed: z.strictObject({ turn, error: agentProblem }),
  /** The end of a turn. */
  idle: z.strictObject({
    turn,
    reason: z.enum(stopReasons),
    /** Of reason `limit`: which one, and a sentence that asks whether to go on. */
    limit: z.enum(['toolCalls', 'tokens']).optional(),
    asks: z.string().optional(),
    usage: z.strictObject({ toolCalls: z.int(), tokens: z.int() }),
  }),
} as const;
export type AgentEventName = keyof typeof agentEvents;
export type AgentEventData = { [Name in AgentEventName]: z.infer<(typeof agentEvents)[Name]> };

/** The event of the stream that is not kept: text of a message under way, to stand from `offset` on. */
export const agentDelta = z.strictObject({ message: z.string(), turn, offset: z.int(), text: z.string() });

export type AgentDelta = z.infer<typeof agentDelta>;

/** An event as `GET /v1/agent/sessions/:id` lists it. */
export type AgentEvent = {
  [Name in AgentEventName]: {
    readonly sequence: number;
    readonly at: string;
    readonly event: Name;
    readonly data: AgentEventData[Name];
  };
}[AgentEventName];

/** What the worker is started with, in PLATFORM_AGENT_JSON. */
export const agentOrder = z.strictObject({
  manifest: agentManifest,
  providers: z.array(z.strictObject({ provider: providerId, dialect: z.enum(['openai', 'anthropic']) })),
});
export type AgentOrder = z.infer<typeof agentOrder>;

export const agents = { limits, errors } as const;
