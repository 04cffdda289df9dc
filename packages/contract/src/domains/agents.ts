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
  agentProfiles: {
    value: 20,
    unit: 'items',
    meaning: 'profiles of one agent: names under which it works with instructions, tools and a budget of their own',
  },
  agentProfileInstructions: { value: 8 * KiB, unit: 'bytes', meaning: 'instructions that a person gives a profile' },
  agentSearchQuery: { value: 200, unit: 'characters', meaning: 'words of a search over the sessions of an agent' },
  agentSearchItems: { value: 50, unit: 'items', meaning: 'sessions that such a search finds; the newest come first' },
  agentSearchSize: {
    value: 64 * MiB,
    unit: 'bytes',
    meaning: 'sessions that such a search reads, the newest first; it says when there are more',
  },
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
  agent_gone: {
    status: 409,
    title: 'The profile of this session was deleted.',
    help: 'Branch the session with another profile, or begin another one. What was said stays readable.',
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
    /** What its person can choose from; the first one is taken where they do not. */
    models: z.array(agentModel),
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

/** The profile that is always there, and that sessions without another one have. */
export const MAIN_PROFILE = 'main';

const profileId = z.string().regex(/^(?:main|pro-[0-9a-f-]{36})$/, 'must be `main` or an id that starts with pro-');

const bytesAtMost = (most: number) =>
  [(text: string) => new TextEncoder().encode(text).length <= most, `must have at most ${sizeText(most)}`] as const;

/** `POST /v1/agent/profiles`, and `PUT /v1/agent/profiles/:id`, which replaces all of it. */
export const agentProfileBody = z.strictObject({
  /** Empty for `main` alone: then it has the name of the app. */
  name: z
    .string()
    .max(60)
    .refine(...storable),
  /** What the person wants of it, besides the instructions of the app. */
  instructions: z
    .string()
    .refine(...bytesAtMost(limits.agentProfileInstructions.value))
    .refine(...storable)
    .default(''),
  /** The tools it gets of those that the app has, as the hub calls them; `null` for all. */
  tools: z.array(z.string().min(1).max(200)).max(limits.agentTools.value).nullable().default(null),
  /** Whether it may ask to search the web, where the app may. */
  webSearch: z.boolean().default(true),
  /** `null` for the first that there is. */
  model: z.strictObject({ provider: providerId, id: modelId }).nullable().default(null),
  /** Its share of the app's budget in a month (UTC); `null` for as much as there is. */
  monthlyTokens: z.int().min(0).max(1e12).nullable().default(null),
});
export type AgentProfileBody = z.infer<typeof agentProfileBody>;

export const agentProfile = agentProfileBody.extend({
  id: profileId,
  /** As the worker counted it. */
  usage: z.strictObject({ month: z.string(), tokens: z.int() }),
});
export type AgentProfile = z.infer<typeof agentProfile>;

export const agentSession = z.strictObject({
  id: agentSessionId,
  /** The beginning of its first message, or what the person called it. */
  title: z.string(),
  /** Of its profile, which may have been deleted. */
  profile: profileId,
  state: z.enum(['idle', 'running']),
  createdAt: timestamp,
  updatedAt: timestamp,
});
export type AgentSession = z.infer<typeof agentSession>;

/** `POST /v1/agent/sessions/:id/messages`. */
export const agentMessageBody = z.strictObject({
  /** Of who sends it: sent again with the same one, because the answer was lost, it is taken once. Default: one of the agent’s. */
  message: z.uuid().optional(),
  text: z
    .string()
    .refine(...bytesAtMost(limits.agentMessage.value))
    .refine(...storable)
    .regex(...visible)
    .min(1),
});

/** `POST /v1/agent/sessions`. */
export const agentSessionBody = z.strictObject({
  /** Of who begins it: asked again with the same one, because the answer was lost, it is begun once. Default: one of the agent’s. */
  id: agentSessionId.optional(),
  /** Begins with what happened in another session before this event of it, a message of the person's. */
  branch: z.strictObject({ session: agentSessionId, sequence: z.int().min(1) }).optional(),
  /** Default: that of the session it branches from, or else `main`. */
  profile: profileId.optional(),
});

/** `PATCH /v1/agent/sessions/:id`. */
export const agentSessionChange = z.strictObject({
  title: z
    .string()
    .max(80)
    .refine(...storable)
    .regex(...visible)
    .min(1),
});

/** `GET /v1/agent/sessions`. */
export const agentSessionsQuery = z.strictObject({
  /** Words that all occur in the title, or in one message of the person or the agent. Default: all sessions. */
  query: z.string().max(limits.agentSearchQuery.value).optional(),
});

/** What `GET /v1/agent/sessions` answers with a `query`. */
export const agentSessionsFound = z.strictObject({
  items: z.array(
    agentSession.extend({
      /** The newest message with all the words; `null` where the title has them. */
      match: z.strictObject({ sequence: z.int(), excerpt: z.string() }).nullable(),
    }),
  ),
  /** Whether all sessions were searched. */
  complete: z.boolean(),
});
export type AgentSessionsFound = z.infer<typeof agentSessionsFound>;

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
    /** Of a tool of the platform: an app that it made, which its person has not accepted yet. */
    draft: z.strictObject({ id: z.string(), appId: z.string().optional(), version: z.string().optional() }).optional(),
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
