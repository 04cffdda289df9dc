// The sessions of the agent, in the volume of its installation.
import { randomUUID } from 'node:crypto';
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { agents, MAIN_PROFILE } from '@platform/contract/agents';
import { Refusal } from '../http/refusal.ts';
import { type Card, journalOf, readCards, removeFiles, writeCard } from './card.ts';
import { type FoundSessions, searchSessions } from './search-sessions.ts';
import { Session } from './session.ts';

/** The session is the same object for all who use it at the same time. Dispose of the use when done. */
export interface SessionUse extends Disposable {
  readonly session: Session;
}

export interface SessionStore {
  /** The turns that were under way when the former process ended. Here none is. */
  readonly interrupted: ReadonlyMap<string, string>;
  /** The one changed last first. */
  list(): Card[];
  has(id: string): boolean;
  /**
   * @param profile default: `main`
   * @param id default: another one each time
   */
  create(profile?: string, id?: string): SessionUse;
  /**
   * @param left nobody waits for it any more
   * @throws Refusal while too many wait for theirs; the reason of `left`
   */
  search(query: string, left?: AbortSignal): Promise<FoundSessions>;
  /** @throws Refusal `not_found` */
  open(id: string): SessionUse;
  /** @throws Refusal while somebody uses it */
  remove(id: string): void;
}

const SEARCHES_WAITING = 4;

interface Used {
  readonly session: Session;
  users: number;
}

/** @param most bytes of all sessions in use at the same time, each of which is in memory */
export function openSessionStore(
  volume: string,
  now: () => Date,
  most: number = agents.limits.agentSessionsInUse.value,
): SessionStore {
  const folder = join(volume, 'sessions');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = readCards(folder);
  const cards = new Map(found.map((card) => [card.id, { ...card, turn: null } as Card]));
  const used = new Map<string, Used>();

  function opened(card: Card): Session {
    const others = [...used.values()].reduce((sum, { session }) => sum + session.bytes, 0);
    const { size = 0 } = statSync(journalOf(folder, card.id), { throwIfNoEntry: false }) ?? {};
    if (size > 0 && others > 0 && others + size > most)
      throw new Refusal('concurrency_limited', 'Too many long sessions are open. Close one of them first.');
    return new Session(folder, card, now);
  }

  function use(id: string): SessionUse {
    const card = cards.get(id);
    if (card === undefined) throw new Refusal('not_found', 'There is no such session.');
    const entry = used.get(id) ?? { session: opened(card), users: 0 };
    used.set(id, entry);
    entry.users += 1;
    let isDone = false;
    return {
      session: entry.session,
      [Symbol.dispose]() {
        if (isDone) return;
        isDone = true;
        entry.users -= 1;
        // A session that was deleted meanwhile does not come back.
        if (cards.has(id)) cards.set(id, entry.session.card);
        if (entry.users > 0) return;
        used.delete(id);
        entry.session.close();
      },
    };
  }

  /** Searches read files as large as sessions are: one at a time. */
  let searching: Promise<unknown> = Promise.resolve();
  let waiting = 0;

  const cardOf = (id: string, card: Card): Card => used.get(id)?.session.card ?? card;

  const list = () =>
    [...cards].map(([id, card]) => cardOf(id, card)).sort((one, other) => (one.updatedAt < other.updatedAt ? 1 : -1));

  return {
    interrupted: new Map(found.flatMap(({ id, turn }) => (turn === null ? [] : [[id, turn] as const]))),
    list,
    has: (id) => cards.has(id),
    async search(query, left) {
      if (waiting >= SEARCHES_WAITING)
        throw new Refusal('concurrency_limited', 'Other searches are under way. Try again in a moment.');
      waiting += 1;
      const mine = searching.then(() => searchSessions(folder, list(), query, { left }));
      searching = mine.catch(() => undefined);
      return mine.finally(() => {
        waiting -= 1;
      });
    },
    create(profile, id = `ses-${randomUUID()}`) {
      if (cards.size >= agents.limits.agentSessions.value)
        throw new Refusal('concurrency_limited', 'The agent has as many sessions as it can keep. Delete some first.');
      const at = now().toISOString();
      const of = (one: string | undefined) => (one === undefined || one === MAIN_PROFILE ? {} : { profile: one });
      const card: Card = {
        id,
        title: '',
        createdAt: at,
        updatedAt: at,
        turn: null,
        ...of(profile),
      };
      writeCard(folder, card);
      cards.set(card.id, card);
      try {
        return use(card.id);
      } catch (error) {
        cards.delete(card.id);
        removeFiles(folder, card.id);
        throw error;
      }
    },
    open: use,
    remove(id) {
      if (!cards.has(id)) throw new Refusal('not_found', 'There is no such session.');
      if (used.get(id)?.session.card.turn != null)
        throw new Refusal('agent_busy', 'Cancel its turn before you delete the session.');
      cards.delete(id);
      removeFiles(folder, id);
      used.get(id)?.session.remove();
    },
  };
}
