// Tools that apps offer each other by the Model Context Protocol, and the hub between them (contract 4g).
import * as z from 'zod';
import { KiB, type Limits, type Metrics, MiB, type Routes } from '../domain.ts';
import { appId, timestamp } from '../primitives.ts';
import { json, page, pageQuery } from './common.ts';

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
  grant: { id: 'mcp.tools.call', or: 'mcp.tools.propose', resource: 'any' },
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
