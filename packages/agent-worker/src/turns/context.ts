// What the model sees of a session: all of it that fits, whole.
import type { AssistantMessage, Message, ToolResultMessage, UserMessage } from '@earendil-works/pi-ai';
import { agents } from '@platform/contract/agents';
import type { Line } from '../sessions/journal.ts';

/** Of JSON in UTF-8. Rather too few: what is too long for a model fails, and scripts other than Latin take more tokens. */
export const BYTES_OF_A_TOKEN = 3;
const LEFT_OUT = '[This result is left out, since the conversation is long.]';
const LEFT_OUT_TEXT = '[This text is left out, since the conversation is long.]';
/** Characters of a text in arguments that is not kept in a long conversation. */
const LONG_TEXT = 1_000;
const EARLIER = '[Note of the platform: earlier messages of this conversation are left out, since it is long.]';
export const UNKNOWN_OUTCOME =
  '[Note of the platform: this call came to no result. It may have taken effect or not. See for yourself before you repeat it.]';

/** What the platform says of how the last turn ended, in front of the next message. */
const ENDINGS: Readonly<Record<string, string>> = {
  interrupted: 'The last turn was interrupted by a restart.',
  cancelled: 'The person stopped the last turn.',
  limit: 'The last turn ended at its limit. The person now lets you go on.',
};

export function messagesOf(lines: readonly Line[]): Message[] {
  const messages: Message[] = [];
  let ending: string | undefined;
  for (const line of lines) {
    if (line.event === 'idle') ending = ENDINGS[line.data.reason];
    for (const message of line.context ?? []) {
      const isNext = message.role === 'user' && ending !== undefined;
      messages.push(isNext ? withNote(message, `[Note of the platform: ${ending}]`) : message);
      if (isNext) ending = undefined;
    }
  }
  return withAllResults(messages);
}

/** Every call has its result behind it, as providers demand: a turn may have ended in between. */
export function withAllResults(messages: readonly Message[]): Message[] {
  const complete: Message[] = [];
  let open: ToolResultMessage[] = [];
  const close = () => {
    complete.push(...open);
    open = [];
  };
  for (const message of messages) {
    if (message.role === 'toolResult') open = open.filter(({ toolCallId }) => toolCallId !== message.toolCallId);
    else close();
    complete.push(message);
    if (message.role === 'assistant') open = callsOf(message);
  }
  close();
  return complete;
}

function callsOf({ content, timestamp }: AssistantMessage): ToolResultMessage[] {
  return content.flatMap((part) =>
    part.type === 'toolCall'
      ? [
          {
            role: 'toolResult' as const,
            toolCallId: part.id,
            toolName: part.name,
            content: [{ type: 'text' as const, text: UNKNOWN_OUTCOME }],
            isError: true,
            timestamp,
          },
        ]
      : [],
  );
}

/** The newest exchanges, each from a message of the person on, as many as fit; of the last one old results and long arguments are left out. */
export function fitting(
  messages: readonly Message[],
  tokens: number = agents.limits.agentContextTokens.value,
): Message[] {
  const [system, ...rest] = messages[0]?.role === 'system' ? messages : [undefined, ...messages];
  const most = tokens * BYTES_OF_A_TOKEN - (system === undefined ? 0 : sizeOf(system));
  const exchanges = exchangesOf(rest.filter((one) => one !== undefined));
  const kept: Message[][] = [];
  let size = 0;
  for (const exchange of exchanges.toReversed()) {
    size += exchange.reduce((sum, message) => sum + sizeOf(message), 0);
    if (kept.length > 0 && size > most) break;
    kept.unshift(exchange);
  }
  if (kept.length < exchanges.length) noteEarlier(kept[0]);
  const flat = kept.flat();
  return [
    ...(system === undefined ? [] : [system]),
    ...(size > most && kept.length === 1 ? shortened(flat, most) : flat),
  ];
}

function exchangesOf(messages: readonly Message[]): Message[][] {
  const exchanges: Message[][] = [];
  for (const message of messages) {
    const last = exchanges.at(-1);
    if (message.role === 'user' || last === undefined) exchanges.push([message]);
    else last.push(message);
  }
  return exchanges;
}

function noteEarlier(exchange: Message[] | undefined): void {
  const [first] = exchange ?? [];
  if (exchange !== undefined && first?.role === 'user') exchange[0] = withNote(first, EARLIER);
}

/** The oldest go first: results, and texts in the arguments of calls, such as whole files. What the model called last stays. */
function shortened(messages: readonly Message[], most: number): Message[] {
  let size = messages.reduce((sum, message) => sum + sizeOf(message), 0);
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  return messages.map((message, index) => {
    if (size <= most || index === last) return message;
    const short = shortForm(message);
    size -= sizeOf(message) - sizeOf(short);
    return short;
  });
}

function shortForm(message: Message): Message {
  if (message.role === 'toolResult') return { ...message, content: [{ type: 'text', text: LEFT_OUT }] };
  if (message.role !== 'assistant') return message;
  const content = message.content.map((part) =>
    part.type === 'toolCall' ? { ...part, arguments: withoutLong(part.arguments) as typeof part.arguments } : part,
  );
  return { ...message, content };
}

function withoutLong(value: unknown): unknown {
  if (typeof value === 'string') return value.length > LONG_TEXT ? LEFT_OUT_TEXT : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutLong);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withoutLong(one)]));
}

function withNote(message: UserMessage, note: string): UserMessage {
  const { content } = message;
  const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  return { ...message, content: [{ type: 'text', text: note }, ...parts] };
}

/** In bytes. */
export function sizeOf(message: Message): number {
  return Buffer.byteLength(JSON.stringify(message));
}
