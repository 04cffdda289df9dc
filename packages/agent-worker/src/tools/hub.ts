// The tools of the agent's person: the hub of the platform, through the Gateway, by the official client.
import {
  Client,
  type jsonSchemaValidator,
  SdkHttpError,
  StreamableHTTPClientTransport,
  type Tool,
} from '@modelcontextprotocol/client';
import { agents } from '@platform/contract/agents';
import type { Platform } from '../platform/platform.ts';
import type { CallContext, OfferedTool, Outcome, Proposal } from './agent-tool.ts';
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

/**
 * Without tools for an agent whose person has allowed it none.
 * @param taken names for the model that other tools have
 * @throws HubFailed
 */
export async function openHub(platform: Platform, taken: readonly string[] = []): Promise<Hub> {
  const client = new Client(
    { name: 'platform-agent', version: '1.0.0' },
    { capabilities: {}, versionNegotiation: { mode: { pin: REVISION } }, jsonSchemaValidator: unchecked },
  );
  const end = () => client.close();
  try {
    const url = new URL(`${platform.origin}${HUB}`);
    await client.connect(new StreamableHTTPClientTransport(url, { fetch: platform.fetch }));
    const tools = [...modelNames(await listTools(client), taken)].map(([name, tool]) => offered(client, name, tool));
    return { tools, [Symbol.asyncDispose]: end };
  } catch (error) {
    await end();
    if (error instanceof SdkHttpError && error.status === FORBIDDEN)
      return { tools: [], [Symbol.asyncDispose]: async () => undefined };
    throw new HubFailed(error);
  }
}

async function listTools(client: Client): Promise<Tool[]> {
  const found: Tool[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listTools(cursor === undefined ? {} : { cursor });
    found.push(...page.tools);
    cursor = page.nextCursor;
  } while (cursor !== undefined && found.length < agents.limits.agentTools.value);
  return found.slice(0, agents.limits.agentTools.value);
}

function offered(client: Client, name: string, tool: Tool): OfferedTool {
  // The hub alone can say this: it drops what apps write below `platform/`.
  const asks = tool._meta?.[NEEDS_APPROVAL] === 'required';
  return {
    ...{ name, tool: tool.name, inputSchema: tool.inputSchema, asks },
    description: tool.description ?? tool.title ?? '',
    async call(args, { signal }: CallContext) {
      const result = await client.callTool(
        { name: tool.name, arguments: { ...args } },
        {
          timeout: CALL_MILLISECONDS,
          resetTimeoutOnProgress: true,
          ...(signal === undefined ? {} : { signal }),
        },
      );
      return outcomeOf(result, asks);
    },
  };
}

type CallResult = Awaited<ReturnType<Client['callTool']>>;

/**
 * Only text reaches the model; what else there is, is named.
 * @param asks whether this is a tool that makes proposals: what any other answers is no proposal of the platform's
 */
export function outcomeOf({ content, structuredContent, isError }: CallResult, asks: boolean): Outcome {
  const parts = content.map((part) => {
    if (part.type === 'text') return part.text;
    if (part.type === 'resource_link') return `[a link: ${part.name} ${part.uri}]`;
    if (part.type === 'resource') return 'text' in part.resource ? part.resource.text : '[a file that is no text]';
    return `[${part.type}, ${part.mimeType}, ${part.data.length} characters of Base64, not shown]`;
  });
  const text = parts.join('\n');
  const proposal = asks ? proposalOf(structuredContent) : undefined;
  return {
    text: text === '' && structuredContent !== undefined ? JSON.stringify(structuredContent) : text,
    isError: isError === true,
    ...(proposal === undefined ? {} : { proposal }),
  };
}

function proposalOf(structured: unknown): Proposal | undefined {
  const proposal = (structured as { readonly proposal?: Partial<Proposal> } | undefined)?.proposal;
  const { id, state, tool, expiresAt } = proposal ?? {};
  if ([id, state, tool, expiresAt].some((member) => typeof member !== 'string')) return undefined;
  return proposal as Proposal;
}
