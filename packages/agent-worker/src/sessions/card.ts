// What the list of sessions shows of one, in a small file of its own beside its journal, so that a start reads no journal.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeWhole } from './whole-file.ts';

export interface Card {
  readonly id: string;
  readonly title: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Its profile; absent for `main`. */
  readonly profile?: string;
  /** The turn under way. On the disk, after a start: the one that was interrupted. */
  readonly turn: string | null;
}

const NAME = /^(ses-[0-9a-f-]{36})\.json$/;

export function writeCard(folder: string, card: Card): void {
  writeWhole(join(folder, `${card.id}.json`), JSON.stringify(card));
}

export function readCards(folder: string): Card[] {
  return readdirSync(folder).flatMap((name) => {
    const [, id] = NAME.exec(name) ?? [];
    if (id === undefined) return [];
    try {
      const card = JSON.parse(readFileSync(join(folder, name), 'utf8')) as Card | null;
      if (card?.id !== id) throw new Error('It is not what was written.');
      return [card];
    } catch (error) {
      process.stderr.write(`The session ${id} cannot be read: ${error}\n`);
      return [];
    }
  });
}

/** The card first: without one there is no session. */
export function removeFiles(folder: string, id: string): void {
  rmSync(join(folder, `${id}.json`), { force: true });
  rmSync(journalOf(folder, id), { force: true });
  rmSync(join(folder, `${id}.json.new`), { force: true });
}

export function journalOf(folder: string, id: string): string {
  return join(folder, `${id}.jsonl`);
}
