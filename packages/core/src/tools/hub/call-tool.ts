// One call of a tool: the arguments are checked, what it may do is decided, it is done once, and the record gets it.
import {
  type CallToolResult,
  type InputRequiredResult,
  isInputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server';
import {
  limits,
  plainText as ofRefusal,
  RefusalError,
  refuse,
  sizeText,
  type ToolOutcome,
  errors as table,
} from '@platform/contract';
import * as z from 'zod';
import { argumentsHash } from '../arguments-hash.ts';
import { lengthen } from '../chain.ts';
import { namesPrototype } from '../names-prototype.ts';
import { recordCall } from '../record.ts';
import { routeCallerOf } from '../tool-caller.ts';
import { type AppRequest, askApp } from './ask-app.ts';
import { type ClientSide, NO_CLIENT } from './client-side.ts';
import type { Hub, HubTool } from './hub-tool.ts';

export interface ToolCallParts extends Omit<AppRequest, 'client'> {
  readonly tool: HubTool;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Default: none waits for the result. */
  readonly client?: ClientSide;
}

/** @throws ProtocolError for arguments that are none; whatever else goes wrong is a result that says so */
export function callTool(hub: Hub, call: Omit<ToolCallParts, 'client'> & { client?: never }): Promise<CallToolResult>;
export function callTool(hub: Hub, call: ToolCallParts): Promise<CallToolResult | InputRequiredResult>;
export async function callTool(hub: Hub, call: ToolCallParts): Promise<CallToolResult | InputRequiredResult> {
  const { caller, tool, arguments: given, signal } = call;
  const begun = performance.now();
  const hash = argumentsHash(tool.name, given);
  let outcome: ToolOutcome = 'refused';
  try {
    checkArguments(hub, call);
    outcome = 'error';
    const result = tool.of === 'platform' ? await callBuiltIn(hub, call, tool) : await callApp(hub, call, tool);
    if (result.isError !== true) outcome = 'ok';
    return result;
  } catch (error) {
    if (signal.aborted) outcome = 'cancelled';
    if (error instanceof ProtocolError) throw error;
    if (!(error instanceof RefusalError)) throw error;
    return refused(error);
  } finally {
    await recordCall(hub, {
      ...{ accountKey: caller.accountKey, caller: caller.recorded, tool: tool.name, outcome },
      ...{ milliseconds: performance.now() - begun, argumentsHash: hash },
    });
  }
}

/** @throws ProtocolError for arguments that the tool does not take; RefusalError `payload_too_large` */
export function checkArguments(hub: Hub, call: ToolCallParts): void {
  const { tool, arguments: given } = call;
  if (Buffer.byteLength(JSON.stringify(given)) > limits.toolArguments.value)
    throw refuse('payload_too_large', `The arguments take more than ${sizeText(limits.toolArguments.value)}.`);
  if (namesPrototype(given)) throw invalid('a member is named __proto__');
  if (tool.of === 'platform') void parsed(tool, given);
  else {
    const verdict = hub.checks.check(tool.inputSchema, given, call.caller.accountKey);
    if (!verdict.ok) throw invalid(verdict.why);
  }
}

/** @throws ProtocolError for arguments that the tool does not take */
function parsed({ builtIn }: Extract<HubTool, { of: 'platform' }>, given: ToolCallParts['arguments']) {
  const { data, error } = builtIn.arguments.safeParse(given);
  if (error !== undefined) throw invalid(z.prettifyError(error));
  return data;
}

function invalid(why: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `Invalid arguments: ${why}`);
}

async function callBuiltIn(
  hub: Hub,
  { caller, stillAllowed, arguments: given, chain, signal }: ToolCallParts,
  tool: Extract<HubTool, { of: 'platform' }>,
): Promise<CallToolResult> {
  lengthen(hub, caller.id, chain, null);
  const { builtIn } = tool;
  const call = {
    ...builtIn.place(parsed(tool, given)),
    caller: routeCallerOf(caller),
    stillAllowed: async () => routeCallerOf(await stillAllowed()),
    consented: caller.credential.kind === 'connection',
    left: signal,
  };
  const answer = await hub.routeCalls.call(builtIn.route, call);
  const structuredContent = (answer ?? {}) as Record<string, unknown>;
  return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
}

async function callApp(
  hub: Hub,
  { client = NO_CLIENT, ...call }: ToolCallParts,
  { name, serving, tool }: Extract<HubTool, { of: 'app' }>,
): Promise<CallToolResult | InputRequiredResult> {
  const { arguments: given, caller } = call;
  const result = await askApp(hub, serving, { ...call, client }, { name, given }, (session, more, options) =>
    session.callTool(
      { name: tool.name, arguments: { ...given }, ...more },
      // For the fields of its request alone; the hub checks the result.
      { ...options, toolDefinition: { name: tool.name, inputSchema: tool.inputSchema } },
    ),
  );
  if (isInputRequiredResult(result) || tool.outputSchema === undefined || result.isError === true) return result;
  if (result.structuredContent === undefined) throw wrong('it has no structured content, which the tool declares');
  const verdict = hub.checks.check(tool.outputSchema, result.structuredContent, caller.accountKey);
  if (!verdict.ok) throw wrong(verdict.why);
  return result;
}

function wrong(why: string): RefusalError {
  return refuse('upstream_failed', `The result of the app does not match the schema of its tool: ${why}`);
}

/** Of one refusal, so that a model mends them together. */
const MOST_FAULTS = 20;

/** As the model of the caller reads it, and in `_meta` as its program does. */
export function refused({ refusal }: RefusalError): CallToolResult {
  const { code, detail, retryAfter, errors = [] } = refusal;
  const faults = errors.slice(0, MOST_FAULTS).map(({ path, message }) => ofRefusal(`- ${path}: ${message}`));
  const text = [`${code}: ${ofRefusal(detail ?? table[code].title)}`, ...faults].join('\n');
  return {
    isError: true,
    content: [{ type: 'text', text }],
    _meta: { 'platform/refusal': { code, ...(retryAfter === undefined ? {} : { retryAfter }) } },
  };
}
