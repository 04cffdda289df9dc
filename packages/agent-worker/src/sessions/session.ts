// A session that is in use: what happened in it, what is happening, and who listens.
import type { Message } from '@earendil-works/pi-ai';
import {
  type AgentDelta,
  type AgentEventData,
  type AgentEventName,
  type AgentSession,
  MAIN_PROFILE,
} from '@platform/contract/agents';
import { type Card, journalOf, writeCard } from './card.ts';
import { type Journal, type Line, openJournal } from './journal.ts';

const TITLE_LENGTH = 80;

/** An event without the place that it gets in the session. */
export type Entry = Pick<Line, 'event' | 'data' | 'context'>;

export class Session {
  readonly #folder: string;
  readonly #journal: Journal;
  readonly #listeners = new Set<() => void>();
  readonly #now: () => Date;
  #card: Card;
  #partial: AgentDelta | undefined;
  #isRemoved = false;

  constructor(folder: string, card: Card, now: () => Date) {
    this.#folder = folder;
    this.#card = card;
    this.#now = now;
    this.#journal = openJournal(journalOf(folder, card.id));
  }

  get card(): Card {
    return this.#card;
  }

  get lines(): readonly Line[] {
    return this.#journal.lines;
  }

  get bytes(): number {
    return this.#journal.bytes();
  }

  /** The message that the model is writing, so far. */
  get partial(): AgentDelta | undefined {
    return this.#partial;
  }

  get isRemoved(): boolean {
    return this.#isRemoved;
  }

  /** On the disk when this returns, and told to everybody who listens. */
  append<Name extends AgentEventName>(event: Name, data: AgentEventData[Name], context?: readonly Message[]): void {
    // The union of events is what this generic pair is one of.
    this.appendAll([{ event, data, ...(context === undefined ? {} : { context }) } as unknown as Entry]);
  }

  /** All of them or none. */
  appendAll(entries: readonly Entry[]): void {
    const at = this.#now().toISOString();
    const first = this.lines.length + 1;
    const lines = entries.map(({ event, data, context }, index) => {
      const line = { sequence: first + index, at, event, data, ...(context === undefined ? {} : { context }) };
      return line as unknown as Line;
    });
    this.#journal.appendAll(lines);
    if (entries.some(({ event }) => event === 'message')) this.#partial = undefined;
    this.#tell();
  }

  /** More of the message under way, which is not kept: a restart loses it with the turn. */
  write(message: string, turn: string, text: string): void {
    const former = this.#partial?.message === message ? this.#partial.text : '';
    this.#partial = { message, turn, offset: 0, text: former + text };
    this.#tell();
  }

  /** A turn begins, or none is under way any more. */
  setTurn(turn: string | null): void {
    this.#partial = undefined;
    this.#save({ turn });
  }

  entitle(text: string): void {
    if (this.#card.title === '') this.#save({ title: titleOf(text) });
  }

  rename(title: string): void {
    this.#save({ title });
  }

  /** Hears that there is more: lines, or text of the message under way. What it is stands in the session. @returns ends it */
  listen(heard: () => void): () => void {
    this.#listeners.add(heard);
    return () => void this.#listeners.delete(heard);
  }

  /** Its files are gone: no more lines follow, and its streams end. */
  remove(): void {
    this.#isRemoved = true;
    this.#tell();
  }

  close(): void {
    this.#journal.close();
  }

  #tell(): void {
    for (const heard of this.#listeners) heard();
  }

  #save(change: Partial<Card>): void {
    this.#card = { ...this.#card, ...change, updatedAt: this.#now().toISOString() };
    writeCard(this.#folder, this.#card);
  }
}

export function shown({ id, title, profile = MAIN_PROFILE, createdAt, updatedAt, turn }: Card): AgentSession {
  return { id, title, profile, state: turn === null ? 'idle' : 'running', createdAt, updatedAt };
}

/** The first line, so far as a list has room for it. */
export function titleOf(text: string): string {
  const line = text.trim().split('\n', 1)[0]?.trim() ?? '';
  return line.length <= TITLE_LENGTH ? line : `${line.slice(0, TITLE_LENGTH - 1).toWellFormed()}…`;
}
