// Tools that apps offer each other by the Model Context Protocol, and the hub between them (contract 4g).
import * as z from 'zod';
import { KiB, type Limits, type Metrics, MiB, type Routes } from '../domain.ts';
import { appId, timestamp } from '../primitives.ts';
import { json, page, pageQuery } from './common.ts';
import { proposal } from './proposals.ts';

const limits = {
  toolArguments: { value: 256 * KiB, unit: 'bytes', meaning: 'arguments of a tool call, as compact JSON' },
  toolResult: { value: 4 * MiB, unit: 'bytes', meaning: 'answer of an app to a tool call' },
  toolDescription: { value: 4 * KiB, unit: 'bytes', meaning: 'description of a tool; longer ones are cut' },
  toolSchema: {
    value: 64 * KiB,
    unit: 'bytes',
    meaning: 'input or output schema of a tool; a tool with a longer one is left out',
  },
  toolsPerAccount: {
    value: 500,
    unit: 'items',
    meaning: 'tools of all apps of one account; the first ones by name are offered',
  },
  appContent: {
    value: 500,
    unit: 'items',
    meaning: 'resources, templates of resources and prompts of one app, each; the first ones by name are offered',
  },
  appInput: {
    value: 64 * KiB,
    unit: 'bytes',
    meaning: 'what an app asks of the client that uses it, in the middle of a call, and what it remembers with it',
  },
  toolCallRate: { value: 600, unit: 'per minute', meaning: 'requests of one installation to the hub of tools' },
  toolCallsAtOnce: { value: 32, unit: 'items', meaning: 'tool calls of one installation that are under way' },
  toolChain: {
    value: 4,
    unit: 'items',
    meaning: 'tool calls that may be made by one another, the first one included',
  },
  toolFirstSignSeconds: {
    value: 60,
    unit: 'seconds',
    meaning: 'time within which an app gives the first sign of life to a tool call',
  },
  toolSeconds: { value: 600, unit: 'seconds', meaning: 'duration of a tool call' },
  toolSubscriptions: {
    value: 8,
    unit: 'items',
    meaning: 'subscriptions of one installation to changes of tools that are open at the same time',
  },
  toolCallDays: { value: 90, unit: 'days', meaning: 'time for which the record of tool calls keeps a call' },
  toolCallsKept: {
    value: 50_000,
    unit: 'items',
    meaning: 'calls in the record of one account; the oldest ones go first',
  },
} as const satisfies Limits;

/** What became of a call. `refused` never reached the tool. */
export const toolOutcome = z.enum(['ok', 'error', 'refused', 'proposed', 'cancelled']);
export type ToolOutcome = z.infer<typeof toolOutcome>;

/** An entry of the record. */
export const toolCall = z.strictObject({
  at: timestamp,
  /** The app that called, or the connection. */
  caller: z.string(),
  /** As the hub lists it, e.g. `notes.add`; `notes.resources/read` and `notes.prompts/get` for what else an app was asked. */
  tool: z.string(),
  outcome: toolOutcome,
  milliseconds: z.int().nonnegative(),
  /** SHA-256, lower-case hex, of the RFC 8785 form of `{ "arguments", "tool" }`. */
  argumentsHash: z.string().regex(/^[0-9a-f]{64}$/),
});
export type ToolCall = z.infer<typeof toolCall>;

/** A tool as an app may use it. Title, description and schemas are what the app that has it says. */
export const usableTool = z.strictObject({
  /** By which it is called, e.g. `notes.add`. */
  name: z.string(),
  title: z.string().optional(),
  description: z.string().optional(),
  /** JSON Schema 2020-12. */
  inputSchema: z.record(z.string(), z.unknown()),
  outputSchema: z.record(z.string(), z.unknown()).optional(),
  /** What its app says that it does, which may be wrong. */
  annotations: z.strictObject({
    readOnlyHint: z.boolean().optional(),
    destructiveHint: z.boolean().optional(),
    idempotentHint: z.boolean().optional(),
    openWorldHint: z.boolean().optional(),
  }),
  /** The app that has it; `null` for a tool of the platform. */
  app: z.strictObject({ id: z.string(), name: z.string() }).nullable(),
  /** `required`: a call is a proposal, which does nothing until the person approves it. */
  approval: z.enum(['none', 'required']),
});
export type UsableTool = z.infer<typeof usableTool>;

/** A call that waits for the person. */
export const pendingProposal = proposal
  .pick({ id: true, tool: true, expiresAt: true })
  .extend({ state: z.literal('pending') });
export type PendingProposal = z.infer<typeof pendingProposal>;

/** What a tool answered, or that the person has to decide first. Content and structured content are the words of its app. */
export const toolAnswer = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('result'),
    /** Blocks of the Model Context Protocol: `{ type: 'text', text }`, images, links. */
    content: z.array(z.looseObject({ type: z.string() })),
    structuredContent: z.unknown().optional(),
    /** The tool failed, or the platform refused the call and `refusal` says why. */
    isError: z.boolean(),
    refusal: z.strictObject({ code: z.string(), retryAfter: z.number().optional() }).nullable(),
  }),
  z.strictObject({ kind: z.literal('proposal'), proposal: pendingProposal }),
]);
export type ToolAnswer = z.infer<typeof toolAnswer>;

/** One call of a tool by a page, through the shell. */
export const pageToolCall = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9_.-]{1,200}$/, 'must be the name of a tool'),
  arguments: z.record(z.string(), z.unknown()).default({}),
  /** Have the person decide, also about a tool that the app may call outright. */
  propose: z.boolean().default(false),
});

/** What an app has to do with tools, for its person. */
export const toolApp = z.strictObject({
  app: z.strictObject({ id: appId, name: z.string() }),
  /** What it offers, as it said last, by name; `null` for nothing, or when it was not asked yet. */
  offers: z
    .array(z.strictObject({ name: z.string(), title: z.string().nullable(), description: z.string().nullable() }))
    .nullable(),
  /** The tools that it may call without asking, and those that it may propose, as grants name them. */
  calls: z.array(z.string()),
  proposes: z.array(z.string()),
});
export type ToolApp = z.infer<typeof toolApp>;

/** One JSON-RPC message of the protocol; what it may hold is the protocol's to say. */
const message = z.looseObject({ jsonrpc: z.literal('2.0') });

/** Arguments with escapes and white space, and what is around them. */
const BODY = 1 * MiB;

const served = {
  method: 'POST',
  body: json(message, BODY),
  answers: { 200: 'application/json', 202: null },
  answersAs: 'the Model Context Protocol',
  rate: 'tool',
  fillsDatabase: true,
} as const;

const forApps = {
  ...served,
  callers: ['frontend', 'installation'],
  grant: { id: 'mcp.tools.call', or: ['mcp.tools.propose'], resource: 'any' },
} as const;

const routes = {
  'services.mcp': {
    ...forApps,
    path: '/v1/services/mcp',
    summary:
      'The tools that the caller may call or propose, those of the platform and of other apps (MCP, Streamable HTTP)',
    refuses: ['concurrency_limited'],
  },
  'services.mcp.app': {
    ...forApps,
    path: '/v1/services/mcp/:appId',
    summary: 'The tools, resources and prompts of one app under their own names (MCP, Streamable HTTP)',
    params: z.strictObject({ appId }),
    refuses: ['concurrency_limited', 'not_found'],
  },
  'mcp.tools': {
    ...served,
    path: '/mcp',
    summary: 'The tools that a connected client may call or propose (MCP, Streamable HTTP)',
    callers: ['connection'],
    refuses: ['concurrency_limited'],
  },
  'mcp.tools.app': {
    ...served,
    path: '/mcp/:appId',
    summary: 'The tools of one app, for a connected client',
    callers: ['connection'],
    params: z.strictObject({ appId }),
    refuses: ['concurrency_limited', 'not_found'],
  },
  'apps.mcp.list': {
    method: 'GET',
    path: '/v1/apps/:appId/mcp/tools',
    summary: "The tools that an app may use, for its page, with the app's own grants",
    callers: ['session'],
    params: z.strictObject({ appId }),
    query: pageQuery,
    refuses: ['concurrency_limited', 'grant_missing', 'not_found', 'runtime_paused'],
    answers: { 200: page(usableTool) },
    rate: 'session',
  },
  'apps.mcp.call': {
    method: 'POST',
    path: '/v1/apps/:appId/mcp/calls',
    summary: "Call a tool for the page of an app, with the app's own grants",
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'does what the app may do, whose person granted it' },
    params: z.strictObject({ appId }),
    body: json(pageToolCall, BODY),
    refuses: ['concurrency_limited', 'grant_missing', 'not_found', 'runtime_paused', 'upstream_failed'],
    answers: { 200: toolAnswer },
    rate: 'session',
    fillsDatabase: true,
  },
  'account.tools': {
    method: 'GET',
    path: '/v1/account/tools',
    summary: 'Apps that offer or request tools: what they offer, and what they were granted',
    callers: ['session'],
    rate: 'session',
    query: pageQuery,
    answers: { 200: page(toolApp) },
  },
  'account.toolCalls': {
    method: 'GET',
    path: '/v1/account/tool-calls',
    summary: 'The record of tool calls, newest first',
    callers: ['session'],
    rate: 'session',
    query: pageQuery,
    answers: { 200: page(toolCall) },
  },
} as const satisfies Routes;

const metrics = {
  platform_core_tool_calls_total: {
    type: 'counter',
    labels: ['outcome'],
    meaning: 'Calls of tools through the hub: ok, error, refused, proposed or cancelled.',
  },
} as const satisfies Metrics;

export const tools = { limits, routes, metrics } as const;

declare module '../bridge-calls.ts' {
  interface BridgeCalls {
    /**
     * The tools that the app may call or propose (`mcp.tools.call`, `mcp.tools.propose`), by name, a part at a time. What it says of
     * them are the words of the apps that have them.
     */
    'mcp.listTools': {
      params: { readonly cursor?: string };
      result: { readonly items: readonly UsableTool[]; readonly nextCursor: string | null };
    };
    /**
     * Calls a tool by its name, e.g. `notes.add`. One that the app may only propose answers with `kind: 'proposal'`, and has done nothing
     * yet. At most 100 calls of tools in ten seconds.
     */
    'mcp.callTool': {
      params: { readonly name: string; readonly arguments?: Readonly<Record<string, unknown>> };
      result: ToolAnswer;
    };
    /** Has the person decide about a call, also of a tool that the app may call outright. */
    'mcp.proposeTool': {
      params: { readonly name: string; readonly arguments?: Readonly<Record<string, unknown>> };
      result: PendingProposal;
    };
  }
}
