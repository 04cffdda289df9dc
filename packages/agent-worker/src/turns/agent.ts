// The agent: begins turns in its sessions, ends them, and says of those that a restart interrupted that it did.
import { randomUUID } from 'node:crypto';
import { type AgentAnswer, type AgentOrder, type AgentProblem, agents, MAIN_PROFILE } from '@platform/contract/agents';
import { Refusal } from '../http/refusal.ts';
import { stayAwake } from '../platform/awake.ts';
import type { Platform } from '../platform/platform.ts';
import { isOfProposals, noting, type OwnProposals, ofOwn } from '../profiles/own-proposals.ts';
import type { Profile, ProfileStore } from '../profiles/profile-store.ts';
import type { Session } from '../sessions/session.ts';
import type { SessionStore } from '../sessions/session-store.ts';
import type { OfferedTool } from '../tools/agent-tool.ts';
import { openHub } from '../tools/hub.ts';
import { WEB_SEARCH, webSearch } from '../tools/web-search.ts';
import { askModel, chooseModel, offeredModels } from './model.ts';
import { INTERRUPTED, internalProblem, PROFILE_GONE, SHARE_USED } from './problem-of.ts';
import { runTurn, type TurnEnd } from './turn.ts';

export interface AgentParts {
  readonly platform: Platform;
  readonly order: AgentOrder;
  readonly instructions: string;
  readonly store: SessionStore;
  readonly profiles: ProfileStore;
  readonly proposals: OwnProposals;
  readonly now: () => Date;
}

type Ending = 'cancelled' | 'interrupted';

interface Running {
  readonly over: AbortController;
  readonly ended: Promise<void>;
}

export interface Agent {
  /** What `GET /v1/agent` answers. */
  describe(): Promise<AgentAnswer>;
  /**
   * Without effect for a message that the session has: who sent it may not have heard the answer.
   *
   * @param message its id, of who sends it. Default: another one each time
   * @throws Refusal when the session cannot take a message now
   */
  say(session: string, text: string, message?: string): void;
  /** Without effect when no turn is under way. */
  cancel(session: string): Promise<void>;
  /** Ends all turns as interrupted. */
  stop(): Promise<void>;
}

/** @throws Error when the volume cannot be used */
export function openAgent(parts: AgentParts): Agent {
  const { platform, order, store, profiles, proposals } = parts;
  const { manifest } = order;
  const running = new Map<string, Running>();
  /** Turns that are over, although the disk did not take it yet. */
  const unended = new Map(store.interrupted);
  for (const id of store.interrupted.keys()) {
    try {
      using use = store.open(id);
      endUnended(use.session);
    } catch (error) {
      // The next message to this session says it. The others go on meanwhile.
      internalProblem(error);
    }
  }

  /** @throws Error when the disk does not take it */
  function endUnended(session: Session): void {
    const { id } = session.card;
    const turn = unended.get(id);
    if (turn === undefined) return;
    if (hasEnded(session, turn)) session.setTurn(null);
    else endInterrupted(session, turn);
    unended.delete(id);
  }

  async function work(session: Session, turn: string, signal: AbortSignal): Promise<TurnEnd> {
    const usage = { toolCalls: 0, tokens: 0 };
    const profile = profiles.find(session.card.profile ?? MAIN_PROFILE);
    // It may be deleted at any moment, and then has nothing left.
    if (profile === undefined) return { problem: PROFILE_GONE, usage };
    const share = {
      problem: () =>
        profiles.left(profile.id) > 0 ? undefined : profiles.find(profile.id) === undefined ? PROFILE_GONE : SHARE_USED,
      spend: (tokens: number) => profiles.spend(profile.id, tokens),
    };
    const spent = share.problem();
    if (spent !== undefined) return { problem: spent, usage };
    const chosen = await chooseModel(platform, order, signal, profile.model);
    if ('message' in chosen) return { problem: chosen, usage };
    const extra = manifest.webSearch && profile.webSearch ? [webSearch(platform)] : [];
    await using hub = await openHub(platform, [WEB_SEARCH], signal);
    const tools = toolsOf(profile, hub.tools, proposals);
    return await runTurn({
      ...{ session, turn, signal, share, tools: [...tools, ...extra], asked: askModel(platform, chosen) },
      ...{ instructions: parts.instructions, wanted: profile.instructions },
      ...{ maxToolCalls: manifest.maxToolCalls, now: parts.now() },
    });
  }

  /** @throws Refusal when it was deleted: no other one has its tools and its share */
  function requireProfile({ card }: Session): void {
    if (profiles.find(card.profile ?? MAIN_PROFILE) === undefined) throw new Refusal('agent_gone');
  }

  async function run(session: Session, turn: string, signal: AbortSignal): Promise<void> {
    const sleep = stayAwake(platform);
    try {
      const end = await work(session, turn, signal).catch(
        (error: unknown): TurnEnd => ({
          ...(signal.aborted ? {} : { problem: internalProblem(error) }),
          usage: usageOf(session, turn),
        }),
      );
      endTurn(session, turn, end, signal.aborted ? (signal.reason as Ending) : undefined);
    } finally {
      sleep();
      // The disk may not have taken it: at least here the turn is over.
      if (session.card.turn === turn) {
        unended.set(session.card.id, turn);
        forgetTurn(session);
      }
    }
  }

  return {
    async describe() {
      const chosen = await chooseModel(platform, order);
      const models = await offeredModels(platform, order);
      const { tools, problem } = await offeredTools(platform, manifest.webSearch);
      return {
        agent: {
          model: 'message' in chosen ? null : { provider: chosen.provider, id: chosen.id },
          models,
          webSearch: manifest.webSearch,
          limits: { toolCalls: manifest.maxToolCalls, tokens: agents.limits.agentTurnTokens.value },
          tools: tools.map(({ name, tool, description, asks }) => ({ name, tool, description, asks })),
          problem: 'message' in chosen ? chosen : (problem ?? null),
        },
      };
    },
    say(id, text, message = randomUUID()) {
      const use = store.open(id);
      const { session } = use;
      try {
        if (hasMessage(session, message)) return use[Symbol.dispose]();
        if (session.card.turn !== null) throw new Refusal('agent_busy');
        if (running.size >= agents.limits.agentTurnsAtOnce.value)
          throw new Refusal('concurrency_limited', 'The agent is at work in other sessions. Wait for one of them.');
        if (session.bytes >= agents.limits.agentSessionSize.value) throw new Refusal('agent_session_full');
        requireProfile(session);
        endUnended(session);
        const turn = randomUUID();
        begin(session, turn, { message, text }, parts.now());
        const over = new AbortController();
        const ended = run(session, turn, over.signal)
          // The disk refuses what would be said of it: the next message, or the next start, says that it was interrupted.
          .catch((error: unknown) => void internalProblem(error))
          .finally(() => {
            running.delete(id);
            use[Symbol.dispose]();
          });
        running.set(id, { over, ended });
      } catch (error) {
        use[Symbol.dispose]();
        throw error;
      }
    },
    async cancel(id) {
      store.open(id)[Symbol.dispose]();
      await endRunning(running.get(id), 'cancelled');
    },
    async stop() {
      await Promise.all([...running.values()].map((one) => endRunning(one, 'interrupted')));
    },
  };
}

/** What became of its own proposals a profile with some tools may always ask, where it makes some; of those of others it learns nothing. */
function toolsOf(
  { id, tools }: Profile,
  offered: readonly OfferedTool[],
  proposals: OwnProposals,
): readonly OfferedTool[] {
  const noted = offered.map((tool) => noting(tool, (proposal) => noteOwn(proposals, id, proposal)));
  if (tools === null) return noted;
  const asks = noted.some((one) => one.asks && tools.includes(one.tool));
  return noted
    .filter(({ tool }) => tools.includes(tool) || (asks && isOfProposals(tool)))
    .map((one) => (isOfProposals(one.tool) ? ofOwn(one, (proposal) => proposals.has(id, proposal)) : one));
}

/** In memory in any case: what was proposed is there, whatever the disk takes. */
function noteOwn(proposals: OwnProposals, profile: string, proposal: string): void {
  try {
    proposals.note(profile, proposal);
  } catch (error) {
    internalProblem(error);
  }
}

/** @throws Error when the disk does not take it: then no turn is under way */
function begin(
  session: Session,
  turn: string,
  { message, text }: { readonly message: string; readonly text: string },
  at: Date,
): void {
  try {
    session.setTurn(turn);
    session.entitle(text);
    session.append('message', { message, turn, role: 'user', text }, [
      { role: 'user', content: text, timestamp: at.getTime() },
    ]);
  } catch (error) {
    forgetTurn(session);
    throw error;
  }
}

/** In memory in any case. */
function forgetTurn(session: Session): void {
  try {
    session.setTurn(null);
  } catch (error) {
    internalProblem(error);
  }
}

function hasMessage({ lines }: Session, message: string): boolean {
  return lines.some(({ event, data }) => event === 'message' && data.role === 'user' && data.message === message);
}

function hasEnded({ lines }: Session, turn: string): boolean {
  const last = lines.at(-1);
  return last?.event === 'idle' && last.data.turn === turn;
}

async function endRunning(turn: Running | undefined, ending: Ending): Promise<void> {
  turn?.over.abort(ending);
  await turn?.ended;
}

function endTurn(session: Session, turn: string, end: TurnEnd, ending: Ending | undefined): void {
  const { usage, problem, limit } = end;
  if (ending === 'interrupted') {
    endInterrupted(session, turn, usage);
    return;
  }
  if (ending === undefined && problem !== undefined) session.append('failed', { turn, error: problem });
  const reason = ending ?? (problem !== undefined ? 'failed' : limit !== undefined ? 'limit' : 'done');
  session.append('idle', {
    ...{ turn, reason, usage },
    ...(reason === 'limit' && limit !== undefined ? { limit, asks: asking(limit, usage) } : {}),
  });
  session.setTurn(null);
}

function endInterrupted(session: Session, turn: string, usage: TurnEnd['usage'] = usageOf(session, turn)): void {
  const last = session.lines.at(-1);
  // A full disk may have taken this line alone.
  if (last?.event !== 'failed' || last.data.turn !== turn) session.append('failed', { turn, error: INTERRUPTED });
  session.append('idle', { turn, reason: 'interrupted', usage });
  session.setTurn(null);
}

/** As far as it was written down. */
function usageOf({ lines }: Session, turn: string): TurnEnd['usage'] {
  const own = lines.filter(({ data }) => data.turn === turn);
  const tokens = own.flatMap(({ context = [] }) =>
    context.map((one) => (one.role === 'assistant' ? one.usage.totalTokens : 0)),
  );
  return {
    toolCalls: own.filter(({ event }) => event === 'tool.call').length,
    tokens: tokens.reduce((sum, count) => sum + count, 0),
  };
}

function asking(limit: 'toolCalls' | 'tokens', { toolCalls, tokens }: TurnEnd['usage']): string {
  const what = limit === 'toolCalls' ? `made ${toolCalls} tool calls` : `used ${tokens} tokens`;
  return `The agent has ${what} in this turn and stopped. Write to it if it should go on.`;
}

async function offeredTools(
  platform: Platform,
  searches: boolean,
): Promise<{ readonly tools: readonly OfferedTool[]; readonly problem?: AgentProblem }> {
  const extra = searches ? [webSearch(platform)] : [];
  try {
    await using hub = await openHub(platform, [WEB_SEARCH]);
    return { tools: [...hub.tools, ...extra] };
  } catch (error) {
    return { tools: extra, problem: internalProblem(error) };
  }
}
