// The tools of the agent's person: the hub of the platform, through the Gateway, by the official client.
import {
  Client,
  type jsonSchemaValidator,
  ProtocolError,
  SdkHttpError,
  StreamableHTTPClientTransport,
  type Tool,
} from '@modelcontextprotocol/client';
import { agents } from '@platform/contract/agents';
import type { Platform } from '../platform/platform.ts';
import { SHORT_MILLISECONDS } from '../platform/shortly.ts';
import {
  type CallContext,
  type Draft,
  type OfferedTool,
  type Outcome,
  OutcomeUnknown,
  type Proposal,
} from './agent-tool.ts';
import { modelNames } from './tool-names.ts';

const HUB = '/v1/services/mcp';
const REVISION = '2026-07-28';
/** The hub itself ends a call after ten minutes. */
const CALL_MILLISECONDS = 610_000;
const NEEDS_APPROVAL = 'platform/approval';

/**
 * The hub checks what apps answer, within a time. Here a schema of a hostile app would have as long as it takes, since a
 * regular expression cannot be interrupted.
 */
const unchecked: jsonSchemaValidator = {
  getValidator: (<Value>() =>
    (value: unknown) => ({
      valid: true,
      data: value as Value,
      errorMessage: undefined,
    })) as jsonSchemaValidator['getValidator'],
};

export interface Hub extends AsyncDisposable {
  readonly tools: readonly OfferedTool[];
}

/** The hub does not answer, or not as it should. */
export class HubFailed extends Error {
  constructor(cause: unknown) {
    super(`The hub of tools failed: ${cause instanceof Error ? cause.message : cause}`, { cause });
    this.name = 'HubFailed';
  }
}

const FORBIDDEN = 403;
const SERVER_FAILED = 500;

/**
 * Without tools for an agent whose person has allowed it none.
 * @param taken names for the model that other tools have
 * @throws HubFailed
 */
export async function openHub(platform: Platform, taken: readonly string[] = [], signal?: AbortSignal): Promise<Hub> {
  const client = new Client(
    { name: 'platform-agent', version: '1.0.0' },
    {
      capabilities: {},
      versionNegotiation: { mode: { pin: REVISION }, probe: { timeoutMs: SHORT_MILLISECONDS } },
      jsonSchemaValidator: unchecked,
    },
  );
  const end = () => client.close();
  try {
    const url = new URL(`${platform.origin}${HUB}`);
    // The client itself would wait for an answer of the hub after the turn has been stopped.
    const fetch: typeof platform.fetch = (input, init) =>
      platform.fetch(input, { ...init, signal: endingWith(signal, init) });
    const transport = new StreamableHTTPClientTransport(url, { fetch });
    await client.connect(transport, { timeout: SHORT_MILLISECONDS });
    const found = await listTools(client);
    const tools = [...modelNames(found, taken)].map(([name, tool]) => offered(client, name, tool));
    return { tools, [Symbol.asyncDispose]: end };
  } catch (error) {
    await end();
    if (error instanceof SdkHttpError && error.status === FORBIDDEN)
      return { tools: [], [Symbol.asyncDispose]: async () => undefined };
    throw new HubFailed(error);
  }
}

function endingWith(signal: AbortSignal | undefined, init: RequestInit | undefined): AbortSignal | null {
  const own = init?.signal ?? undefined;
  if (signal === undefined || own === undefined) return signal ?? own ?? null;
  return AbortSignal.any([signal, own]);
}

/** All pages of them: without a cursor the client collects these. */
async function listTools(client: Client): Promise<readonly Tool[]> {
  const { tools } = await client.listTools({}, { timeout: SHORT_MILLISECONDS });
  return fittingTools(tools);
}

/** Those that work at once come first, so that proposals, which every agent may make, do not crowd them out. */
export function fittingTools(
  tools: readonly Tool[],
  most: number = agents.limits.agentTools.value,
  characters: number = agents.limits.agentToolsSize.value,
): readonly Tool[] {
  const fit: Tool[] = [];
  let left = characters;
  for (const tool of [...tools.filter((one) => !asksFirst(one)), ...tools.filter(asksFirst)]) {
    const size = describe(tool).length + JSON.stringify(tool.inputSchema).length;
    // One that is too large does not keep out the others.
    if (size > left || fit.length >= most) continue;
    left -= size;
    fit.push(tool);
  }
  return fit;
}

/** The hub alone can say this: it drops what apps write below `platform/`. */
function asksFirst({ _meta }: Tool): boolean {
  return _meta?.[NEEDS_APPROVAL] === 'required';
}

function describe({ description, title }: Tool): string {
  return description ?? title ?? '';
}

function offered(client: Client, name: string, tool: Tool): OfferedTool {
  const asks = asksFirst(tool);
  return {
    ...{ name, tool: tool.name, inputSchema: tool.inputSchema, asks },
    description: describe(tool),
    async call(args, { signal }: CallContext) {
      const calling = client.callTool(
        { name: tool.name, arguments: { ...args } },
        {
          timeout: CALL_MILLISECONDS,
          resetTimeoutOnProgress: true,
          ...(signal === undefined ? {} : { signal }),
        },
      );
      const result = await calling.catch((error: unknown) => {
        throw isRefused(error) ? error : new OutcomeUnknown(error);
      });
      return outcomeOf(result, tool.name, asks);
    },
  };
}

/** The hub answered, and not with a failure on the way. Whatever else ends a call may leave it done. */
function isRefused(error: unknown): boolean {
  if (error instanceof ProtocolError) return true;
  return error instanceof SdkHttpError && error.status !== undefined && error.status < SERVER_FAILED;
}

type CallResult = Awaited<ReturnType<Client['callTool']>>;

/**
 * Only text reaches the model; what else there is, is named.
 * @param name the tool's
 * @param asks whether this is a tool that makes proposals: what any other answers is no proposal of the platform's
 */
export function outcomeOf({ content, structuredContent, isError }: CallResult, name: string, asks: boolean): Outcome {
  const parts = content.map((part) => {
    if (part.type === 'text') return part.text;
    if (part.type === 'resource_link') return `[a link: ${part.name} ${part.uri}]`;
    if (part.type === 'resource') return 'text' in part.resource ? part.resource.text : '[a file that is no text]';
    return `[${part.type}, ${part.mimeType}, ${part.data.length} characters of Base64, not shown]`;
  });
  const text = parts.join('\n');
  const proposal = asks ? proposalOf(structuredContent, name) : undefined;
  const draft = isOfPlatform(name) ? draftOf(structuredContent) : undefined;
  return {
    text: text === '' && structuredContent !== undefined ? JSON.stringify(structuredContent) : text,
    isError: isError === true,
    ...(proposal === undefined ? {} : { proposal }),
    ...(draft === undefined ? {} : { draft }),
  };
}

/** No app has an id that begins so. */
function isOfPlatform(name: string): boolean {
  return name.startsWith('platform-');
}

/** What leads to its review, which the shell opens for the app that made it alone. */
function draftOf(structured: unknown): Draft | undefined {
  const draft = (structured as { readonly draft?: Partial<Draft> } | undefined)?.draft;
  const { id, appId, version } = draft ?? {};
  if (typeof id !== 'string' || !/^drf-[\w-]{1,64}$/.test(id)) return undefined;
  return {
    id,
    ...(typeof appId === 'string' ? { appId } : {}),
    ...(typeof version === 'string' ? { version } : {}),
  };
}

/** Nothing of it but what a proposal has. */
function proposalOf(structured: unknown, name: string): Proposal | undefined {
  const proposal = (structured as { readonly proposal?: Partial<Proposal> } | undefined)?.proposal;
  const { id, state, tool, expiresAt } = proposal ?? {};
  if (typeof id !== 'string' || typeof state !== 'string' || typeof expiresAt !== 'string') return undefined;
  return tool === name && /^prop-/.test(id) ? { id, state, tool, expiresAt } : undefined;
}
