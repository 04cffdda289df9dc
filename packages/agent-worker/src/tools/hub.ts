// The tools of the agent's person: the hub of the platform, through the Gateway, by the official client.
import {
  Client,
  type jsonSchemaValidator,
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

/** @param taken names for the model that other tools have. @throws Error when the hub does not answer */
export async function openHub(platform: Platform, taken: readonly string[] = []): Promise<Hub> {
  const client = new Client(
    { name: 'platform-agent', version: '1.0.0' },
    { capabilities: {}, versionNegotiation: { mode: { pin: REVISION } }, jsonSchemaValidator: unchecked },
  );
  const transport = new StreamableHTTPClientTransport(new URL(`${platform.origin}${HUB}`), { fetch: platform.fetch });
  await client.connect(transport);
  try {
    const tools = [...modelNames(await listTools(client), taken)].map(([name, tool]) => offered(client, name, tool));
    return { tools, [Symbol.asyncDispose]: () => client.close() };
  } catch (error) {
    await client.close();
    throw error;
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
  return {
    name,
    tool: tool.name,
    description: tool.description ?? tool.title ?? '',
    inputSchema: tool.inputSchema,
    asks: tool._meta?.[NEEDS_APPROVAL] === 'required',
    async call(args, { signal }: CallContext) {
      const result = await client.callTool(
        { name: tool.name, arguments: { ...args } },
        {
          timeout: CALL_MILLISECONDS,
          resetTimeoutOnProgress: true,
          ...(signal === undefined ? {} : { signal }),
        },
      );
      return outcomeOf(result);
    },
  };
}

type CallResult = Awaited<ReturnType<Client['callTool']>>;

/** Only text reaches the model; what else there is, is named. */
export function outcomeOf({ content, structuredContent, isError }: CallResult): Outcome {
  const parts = content.map((part) => {
    if (part.type === 'text') return part.text;
    if (part.type === 'resource_link') return `[a link: ${part.name} ${part.uri}]`;
    if (part.type === 'resource') return 'text' in part.resource ? part.resource.text : '[a file that is no text]';
    return `[${part.type}, ${part.mimeType}, ${part.data.length} characters of Base64, not shown]`;
  });
  const text = parts.join('\n');
  const proposal = proposalOf(structuredContent);
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
