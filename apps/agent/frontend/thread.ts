// What is shown of a session: its events in order, with calls, results, proposals and questions brought together. Pure.
import type { AgentEvent, AgentProblem } from '@platform/sdk/browser';
import type { Delta } from './events.ts';

export interface Thread {
  /** Oldest first, without a gap. */
  readonly events: readonly AgentEvent[];
  /** There are earlier ones. */
  readonly earlier: boolean;
  /** What the model is writing. */
  readonly partial: { readonly message: string; readonly text: string } | undefined;
  readonly isRunning: boolean;
}

export const NOTHING: Thread = { events: [], earlier: false, partial: undefined, isRunning: false };

export interface ToolItem {
  readonly kind: 'tool';
  readonly key: string;
  readonly tool: string;
  readonly given: unknown;
  readonly result?: Extract<AgentEvent, { event: 'tool.result' }>['data'];
  readonly proposal?: Extract<AgentEvent, { event: 'proposal' }>['data']['proposal'];
  /** The platform may be asking the person about this web search. */
  readonly query?: string;
  /** Its turn is over, so nothing comes any more. */
  readonly isOver: boolean;
}

export interface UserItem {
  readonly kind: 'user';
  readonly key: string;
  readonly sequence: number;
  readonly text: string;
  readonly at: string;
}

export type Item =
  | UserItem
  | { readonly kind: 'answer'; readonly key: string; readonly text: string; readonly isPartial: boolean }
  | ToolItem
  | { readonly kind: 'failed'; readonly key: string; readonly error: AgentProblem }
  | {
      readonly kind: 'end';
      readonly key: string;
      readonly reason: 'cancelled' | 'limit';
      readonly asks: string | undefined;
    };

interface Page {
  readonly events: readonly AgentEvent[];
  readonly earlier: boolean;
}

/** The newest events, read anew: what was shown before them stays where they follow on it. */
export function withNewest(thread: Thread, { events, earlier, state }: Page & { readonly state: string }): Thread {
  const first = events[0]?.sequence ?? 1;
  const isRunning = state === 'running';
  // What was being written may have been finished meanwhile.
  const isWhole = thread.partial !== undefined && hasMessage({ events }, thread.partial.message);
  const partial = isRunning && !isWhole ? thread.partial : undefined;
  const follows = thread.events.length > 0 && first <= lastOf(thread) + 1;
  if (!follows || first <= (thread.events[0]?.sequence ?? 1)) return { events, earlier, partial, isRunning };
  return { ...events.reduce(withEvent, thread), partial, isRunning };
}

export function withEarlier(thread: Thread, page: Page): Thread {
  const first = thread.events[0]?.sequence ?? Number.POSITIVE_INFINITY;
  const older = page.events.filter(({ sequence }) => sequence < first);
  return { ...thread, events: [...older, ...thread.events], earlier: page.earlier };
}

export function withEvent(thread: Thread, event: AgentEvent): Thread {
  const last = thread.events.at(-1)?.sequence ?? 0;
  if (event.sequence <= last) return thread;
  const events = [...thread.events, event];
  const isWritten = event.event === 'message' || event.event === 'idle';
  return { ...thread, events, partial: isWritten ? undefined : thread.partial, isRunning: isAtWork(events) };
}

export function hasMessage({ events }: Pick<Thread, 'events'>, message: string): boolean {
  return events.some(({ event, data }) => event === 'message' && data.message === message);
}

export function withDelta(thread: Thread, { message, offset, text }: Delta): Thread {
  // It is there as a whole, from another connection.
  if (hasMessage(thread, message)) return thread;
  const before = thread.partial?.message === message ? thread.partial.text : '';
  return { ...thread, partial: { message, text: before.slice(0, offset) + text } };
}

/** A turn ends with `idle`, whatever happens. */
function isAtWork(events: readonly AgentEvent[]): boolean {
  const last = events.at(-1);
  return last !== undefined && last.event !== 'idle';
}

export function lastOf({ events }: Thread): number {
  return events.at(-1)?.sequence ?? 0;
}

/** Why a turn failed, or was interrupted, is an event of its own. */
const SHOWN_ENDS = ['cancelled', 'limit'] as const;

export function itemsOf({ events, partial, isRunning }: Thread): Item[] {
  const items: Item[] = [];
  /** Of calls, by their ids: where they stand. Models may use an id again in another turn. */
  const calls = new Map<string, number>();
  const change = (call: string, more: Partial<ToolItem>) => {
    const at = calls.get(call);
    const item = at === undefined ? undefined : items[at];
    if (at !== undefined && item?.kind === 'tool') items[at] = { ...item, ...more };
  };
  for (const one of events) {
    const key = String(one.sequence);
    if (one.event === 'message' && one.data.role === 'user')
      items.push({ kind: 'user', key, sequence: one.sequence, text: one.data.text, at: one.at });
    if (one.event === 'message' && one.data.role === 'assistant' && one.data.text !== '')
      items.push({ kind: 'answer', key: one.data.message, text: one.data.text, isPartial: false });
    if (one.event === 'tool.call') {
      calls.set(one.data.call, items.length);
      items.push({ kind: 'tool', key, tool: one.data.tool, given: one.data.arguments, isOver: false });
    }
    if (one.event === 'tool.result') change(one.data.call, { result: one.data });
    if (one.event === 'proposal') change(one.data.call, { proposal: one.data.proposal });
    if (one.event === 'consent') change(one.data.call, { query: one.data.query });
    if (one.event === 'failed') items.push({ kind: 'failed', key, error: one.data.error });
    if (one.event === 'idle') {
      for (const call of calls.keys()) change(call, { isOver: true });
      calls.clear();
      const reason = SHOWN_ENDS.find((end) => end === one.data.reason);
      if (reason !== undefined) items.push({ kind: 'end', key, reason, asks: one.data.asks });
    }
  }
  if (isRunning && partial !== undefined && partial.text !== '')
    items.push({ kind: 'answer', key: partial.message, text: partial.text, isPartial: true });
  return items;
}

/** How the last turn ended, and with what it began: to begin it again. */
export function lastTurn({ events }: Thread): { readonly asked: UserItem | undefined; readonly isUnanswered: boolean } {
  const asked = events.findLast((one) => one.event === 'message' && one.data.role === 'user');
  const end = events.at(-1);
  const isUnanswered = end?.event === 'idle' && ['failed', 'cancelled', 'interrupted'].includes(end.data.reason);
  if (asked?.event !== 'message') return { asked: undefined, isUnanswered };
  const { sequence, at, data } = asked;
  return { asked: { kind: 'user', key: String(sequence), sequence, text: data.text, at }, isUnanswered };
}
