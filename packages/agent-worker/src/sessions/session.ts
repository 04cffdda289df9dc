// A session that is in use: what happened in it, what is happening, and who listens.
import type { Message } from '@earendil-works/pi-ai';
import type { AgentDelta, AgentEventData, AgentEventName, AgentSession } from '@platform/contract/agents';
import { type Card, journalOf, writeCard } from './card.ts';
import { type Journal, type Line, openJournal } from './journal.ts';

const TITLE_LENGTH = 80;

export interface Listener {
  line(line: Line): void;
  delta(delta: AgentDelta): void;
}

export class Session {
  readonly #folder: string;
  readonly #journal: Journal;
  readonly #listeners = new Set<Listener>();
  readonly #now: () => Date;
  #card: Card;
  /** The message that the model is writing. */
  #partial: AgentDelta | undefined;

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

  /** On the disk when this returns, and told to everybody who listens. */
  append<Name extends AgentEventName>(event: Name, data: AgentEventData[Name], context?: readonly Message[]): void {
    const at = this.#now().toISOString();
    const sequence = this.lines.length + 1;
    // The union of events is what this generic pair is one of.
    const line = { sequence, at, event, data, ...(context === undefined ? {} : { context }) } as unknown as Line;
    this.#journal.append(line);
    if (event === 'message') this.#partial = undefined;
    for (const listener of this.#listeners) listener.line(line);
  }

  /** More of the message under way, which is not kept: a restart loses it with the turn. */
  write(message: string, turn: string, text: string): void {
    const former = this.#partial?.message === message ? this.#partial.text : '';
    this.#partial = { message, turn, offset: 0, text: former + text };
    for (const listener of this.#listeners) listener.delta({ message, turn, offset: former.length, text });
  }

  /** A turn begins, or none is under way any more. */
  setTurn(turn: string | null): void {
    this.#partial = undefined;
    this.#save({ turn });
  }

  entitle(text: string): void {
    if (this.#card.title === '') this.#save({ title: titleOf(text) });
  }

  /** Everything after `sequence`, then what comes. @returns ends it */
  listen(sequence: number, listener: Listener): () => void {
    for (const line of this.lines.slice(sequence)) listener.line(line);
    if (this.#partial !== undefined) listener.delta(this.#partial);
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  close(): void {
    this.#journal.close();
  }

  #save(change: Partial<Card>): void {
    this.#card = { ...this.#card, ...change, updatedAt: this.#now().toISOString() };
    writeCard(this.#folder, this.#card);
  }
}

export function shown({ id, title, createdAt, updatedAt, turn }: Card): AgentSession {
  return { id, title, state: turn === null ? 'idle' : 'running', createdAt, updatedAt };
}

/** The first line, so far as a list has room for it. */
export function titleOf(text: string): string {
  const line = text.trim().split('\n', 1)[0]?.trim() ?? '';
  return line.length <= TITLE_LENGTH ? line : `${line.slice(0, TITLE_LENGTH - 1).toWellFormed()}…`;
}
