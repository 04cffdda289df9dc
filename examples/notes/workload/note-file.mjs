// All notes in one file of the volume. A write is complete or did not happen, also when the power fails.
import { randomUUID } from 'node:crypto';
import { open, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export class NoteFile {
  #folder;
  /** The last write; the next one waits for it, so that no two overtake each other. */
  #writing = Promise.resolve();

  constructor(folder) {
    this.#folder = folder;
  }

  /** Newest first. */
  async all() {
    try {
      return JSON.parse(await readFile(join(this.#folder, 'notes.json'), 'utf8'));
    } catch (error) {
      if (error.code === 'ENOENT') return [];
      throw error;
    }
  }

  /** A note with an id that is there already is not added again. */
  async add(text, id = randomUUID()) {
    const note = { id, text, createdAt: new Date().toISOString() };
    await this.#change((notes) => (notes.some((one) => one.id === id) ? notes : [note, ...notes]));
    return note;
  }

  async remove(id) {
    await this.#change((notes) => notes.filter((note) => note.id !== id));
  }

  #change(change) {
    const turn = this.#writing.then(async () => this.#write(change(await this.all())));
    this.#writing = turn.catch(() => {});
    return turn;
  }

  async #write(notes) {
    const path = join(this.#folder, 'notes.json');
    await writeFile(`${path}.new`, JSON.stringify(notes), { flush: true });
    await rename(`${path}.new`, path);
    const folder = await open(this.#folder);
    await folder.sync().finally(() => folder.close());
  }
}
