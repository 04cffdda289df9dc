// One turn: from a message of the person until the agent has nothing left to do, has come to a limit, or is stopped.
import { randomUUID } from 'node:crypto';
import { type AgentTool, type AgentEvent as LoopEvent, runAgentLoop } from '@earendil-works/pi-agent-core';
import {
  type AssistantMessage,
  createInitialSystemMessage,
  type Message,
  toToolDeclaration,
} from '@earendil-works/pi-ai';
import { type AgentEventData, type AgentProblem, agents } from '@platform/contract/agents';
import type { Session } from '../sessions/session.ts';
import { type OfferedTool, type Outcome, OutcomeUnknown } from '../tools/agent-tool.ts';
import { asForeign, cutText, withoutHarmful } from '../tools/foreign-text.ts';
import { shownArguments } from '../tools/shown-arguments.ts';
import { BYTES_OF_A_TOKEN, fitting, messagesOf, sizeOf, UNKNOWN_OUTCOME } from './context.ts';
import type { AskedModel } from './model.ts';
import { problemOfModel, SESSION_FULL } from './problem-of.ts';
import { systemPrompt } from './system-prompt.ts';

export interface TurnParts {
  readonly session: Session;
  readonly turn: string;
  readonly asked: AskedModel;
  readonly tools: readonly OfferedTool[];
  readonly instructions: string;
  /** Of its person, besides. */
  readonly wanted?: string;
  readonly maxToolCalls: number;
  readonly now: Date;
  readonly signal: AbortSignal;
  /** Of its profile, where that has one. */
  readonly share?: Share;
}

/** What a profile may use in a month. */
export interface Share {
  /** Why nothing may be used any more; `undefined` while something may. */
  problem(): AgentProblem | undefined;
  /** @throws Error when it cannot be written down */
  spend(tokens: number): void;
}

export interface TurnEnd {
  readonly problem?: AgentProblem;
  readonly limit?: 'toolCalls' | 'tokens';
  readonly usage: AgentEventData['idle']['usage'];
}

const NOT_MADE = '[Note of the platform: this call was not made, since the turn has come to its limit of tool calls.]';
const SESSION_FULL_NOTE = '[Note of the platform: this call was not made, since the session is full.]';

export async function runTurn(parts: TurnParts): Promise<TurnEnd> {
  const { session, asked, tools, signal } = parts;
  const scribe = new Scribe(parts);
  const usage = { toolCalls: 0, tokens: 0 };
  let admitted = 0;
  let askedBytes = 0;
  let limit: TurnEnd['limit'];
  let problem: AgentProblem | undefined;
  const own = tools.map((tool) => loopTool(tool, parts, scribe));
  const system = createInitialSystemMessage(
    systemPrompt(parts.instructions, parts.wanted ?? '', tools, parts.now),
    own.map(toToolDeclaration),
  );
  const history = messagesOf(session.lines);
  const message = history.pop();
  if (message === undefined) throw new Error('A turn begins with a message.');
  await runAgentLoop(
    [message],
    { messages: [...(system === undefined ? [] : [system]), ...history], tools: own },
    {
      model: asked.model,
      sessionId: session.card.id,
      toolExecution: 'sequential',
      convertToLlm: (messages) => messages.filter((one): one is Message => 'role' in one),
      async transformContext(messages) {
        const shown = fitting(messages as Message[]);
        askedBytes = shown.reduce((sum, one) => sum + sizeOf(one), 0);
        return shown;
      },
      async beforeToolCall() {
        admitted += 1;
        if (isFull(session)) return { block: true, reason: SESSION_FULL_NOTE };
        if (usage.toolCalls >= parts.maxToolCalls) {
          limit ??= 'toolCalls';
          return { block: true, reason: NOT_MADE };
        }
        usage.toolCalls += 1;
        return undefined;
      },
      finishTurn({ message: answer, toolResults }) {
        const { input, output, cacheRead, cacheWrite } = answer.usage;
        const reported = input + output + cacheRead + cacheWrite;
        // What was refused was not answered by a model, and costs nothing.
        const estimated = asked.refusal() === undefined ? (askedBytes + sizeOf(answer)) / BYTES_OF_A_TOKEN : 0;
        const tokens = reported > 0 ? reported : Math.ceil(estimated);
        usage.tokens += tokens;
        parts.share?.spend(tokens);
        // Calls of tools that do not exist, and those that were cut off, never came to beforeToolCall.
        usage.toolCalls += toolResults.length - admitted;
        admitted = 0;
        if (usage.toolCalls > parts.maxToolCalls) limit ??= 'toolCalls';
        if (answer.stopReason === 'error') problem = problemOfModel(asked.refusal(), answer.errorMessage ?? '');
        if (toolResults.length > 0 && usage.tokens >= agents.limits.agentTurnTokens.value) limit ??= 'tokens';
        if (toolResults.length > 0 && isFull(session)) problem ??= SESSION_FULL;
        if (toolResults.length > 0) problem ??= parts.share?.problem();
        return Promise.resolve(limit === undefined && problem === undefined ? undefined : { action: 'end' as const });
      },
    },
    async (event) => scribe.take(event),
    signal,
    asked.stream,
  );
  return { ...(problem === undefined ? {} : { problem }), ...(limit === undefined ? {} : { limit }), usage };
}

/** The schema goes to the model as the hub gave it, and is checked by the hub, within a time (hub.ts). */
function loopTool(tool: OfferedTool, { session, turn }: TurnParts, scribe: Scribe): AgentTool {
  const parameters = Object.defineProperty({}, 'toJSON', { value: () => tool.inputSchema, enumerable: false });
  return {
    ...{ name: tool.name, label: tool.tool, description: tool.description, parameters },
    async execute(call, args, signal) {
      const onConsent = (query: string) => session.append('consent', { call, turn, query });
      const context = { session: session.card.id, signal, onConsent };
      const outcome = await tool
        .call(args as Readonly<Record<string, unknown>>, context)
        .catch((error: unknown): Outcome => failed(error, signal));
      // The same for the person and the model.
      const { text, cut } = cutText(withoutHarmful(outcome.text), agents.limits.agentToolResult.value);
      scribe.note(call, outcome, text, cut);
      const foreign = asForeign(text, tool.tool);
      // The loop takes an error for a failed call, whose text it shows as ours.
      return {
        content: [{ type: 'text', text: outcome.isError ? `The call failed.\n${foreign}` : foreign }],
        details: {},
      };
    },
  };
}

function isFull({ bytes }: Session): boolean {
  return bytes >= agents.limits.agentSessionSize.value;
}

/** The words may be the app's, as those of a result. @throws Error with a note of ours, which the loop shows in place of one */
function failed(error: unknown, signal: AbortSignal | undefined): Outcome {
  if (signal?.aborted === true || error instanceof OutcomeUnknown) throw new Error(UNKNOWN_OUTCOME, { cause: error });
  return { text: error instanceof Error ? error.message : String(error), isError: true };
}

interface Noted {
  readonly outcome: Outcome;
  readonly text: string;
  readonly cut: boolean;
}

/** Writes down what the loop reports, before it goes on. */
class Scribe {
  readonly #parts: TurnParts;
  readonly #noted = new Map<string, Noted>();
  readonly #names: ReadonlyMap<string, string>;
  #message: string = randomUUID();
  /** What the model wrote without a text goes to the books with its first call. */
  #unwritten: AssistantMessage | undefined;

  constructor(parts: TurnParts) {
    this.#parts = parts;
    this.#names = new Map(parts.tools.map(({ name, tool }) => [name, tool]));
  }

  note(call: string, outcome: Outcome, text: string, cut: boolean): void {
    this.#noted.set(call, { outcome, text, cut });
  }

  take(event: LoopEvent): void {
    const { session, turn } = this.#parts;
    if (event.type === 'message_update' && event.assistantMessageEvent.type === 'text_delta')
      session.write(this.#message, turn, event.assistantMessageEvent.delta);
    if (event.type === 'message_end' && event.message.role === 'assistant') this.#answer(event.message);
    if (event.type === 'tool_execution_start') {
      const { toolCallId: call, toolName, args } = event;
      const shown = { call, turn, tool: this.#toolOf(toolName), arguments: shownArguments(args) };
      session.append('tool.call', shown as AgentEventData['tool.call'], this.#takeUnwritten());
    }
    if (event.type === 'message_end' && event.message.role === 'toolResult') {
      const { details: _, ...message } = event.message;
      this.#result(message);
    }
  }

  #answer(message: AssistantMessage): void {
    const text = message.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
    const isWhole = message.stopReason !== 'error' && message.stopReason !== 'aborted';
    // Calls of an answer that broke off were not made.
    const kept: AssistantMessage = isWhole
      ? message
      : { ...message, stopReason: 'stop', content: [{ type: 'text', text }] };
    const calls = kept.content.some(({ type }) => type === 'toolCall');
    if (text === '' && calls) this.#unwritten = kept;
    else if (text !== '' || isWhole)
      this.#parts.session.append(
        'message',
        { message: this.#message, turn: this.#parts.turn, role: 'assistant', text },
        text === '' ? [] : [kept],
      );
    this.#message = randomUUID();
  }

  #result(message: Extract<Message, { role: 'toolResult' }>): void {
    const { session, turn } = this.#parts;
    const { toolCallId: call, toolName, content } = message;
    const noted = this.#noted.get(call);
    this.#noted.delete(call);
    const shown = content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
    session.append(
      'tool.result',
      {
        ...{ call, turn, tool: this.#toolOf(toolName), isError: noted?.outcome.isError ?? message.isError },
        ...{ text: noted?.text ?? shown, cut: noted?.cut ?? false },
        ...(noted?.outcome.draft === undefined ? {} : { draft: noted.outcome.draft }),
      },
      [message],
    );
    const proposal = noted?.outcome.proposal;
    if (proposal !== undefined) session.append('proposal', { call, turn, proposal: { ...proposal } });
  }

  #takeUnwritten(): Message[] | undefined {
    const message = this.#unwritten;
    this.#unwritten = undefined;
    return message === undefined ? undefined : [message];
  }

  #toolOf(name: string): string {
    return this.#names.get(name) ?? name;
  }
}
