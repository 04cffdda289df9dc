// The sessions of the agent, in the volume of its installation.
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { agents } from '@platform/contract/agents';
import { Refusal } from '../http/refusal.ts';
import { type Card, readCards, removeFiles, writeCard } from './card.ts';
import { Session } from './session.ts';

/** The session is the same object for all who use it at the same time. Dispose of the use when done. */
export interface SessionUse extends Disposable {
  readonly session: Session;
}

export interface SessionStore {
  /** The one changed last first. */
  list(): Card[];
  create(): SessionUse;
  /** @throws Refusal `not_found` */
  open(id: string): SessionUse;
  /** @throws Refusal while somebody uses it */
  remove(id: string): void;
}

interface Used {
  readonly session: Session;
  users: number;
}

export function openSessionStore(volume: string, now: () => Date): SessionStore {
  const folder = join(volume, 'sessions');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const cards = new Map(readCards(folder).map((card) => [card.id, card]));
  const used = new Map<string, Used>();

  function use(id: string): SessionUse {
    const card = cards.get(id);
    if (card === undefined) throw new Refusal('not_found', 'There is no such session.');
    const entry = used.get(id) ?? { session: new Session(folder, card, now), users: 0 };
    used.set(id, entry);
    entry.users += 1;
    let isDone = false;
    return {
      session: entry.session,
      [Symbol.dispose]() {
        if (isDone) return;
        isDone = true;
        entry.users -= 1;
        cards.set(id, entry.session.card);
        if (entry.users > 0) return;
        used.delete(id);
        entry.session.close();
      },
    };
  }

  const cardOf = (id: string, card: Card): Card => used.get(id)?.session.card ?? card;

  return {
    list: () =>
      [...cards].map(([id, card]) => cardOf(id, card)).sort((one, other) => (one.updatedAt < other.updatedAt ? 1 : -1)),
    create() {
      if (cards.size >= agents.limits.agentSessions.value)
        throw new Refusal('concurrency_limited', 'The agent has as many sessions as it can keep. Delete some first.');
      const at = now().toISOString();
      const card: Card = { id: `ses-${randomUUID()}`, title: '', createdAt: at, updatedAt: at, turn: null };
      writeCard(folder, card);
      cards.set(card.id, card);
      return use(card.id);
    },
    open: use,
    remove(id) {
      if (!cards.has(id)) throw new Refusal('not_found', 'There is no such session.');
      if (used.get(id)?.session.card.turn != null)
        throw new Refusal('agent_busy', 'Cancel its turn before you delete the session.');
      cards.delete(id);
      removeFiles(folder, id);
    },
  };
}
