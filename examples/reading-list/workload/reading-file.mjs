// All entries in one file of the volume. A write is complete or did not happen, also when the power fails.
import { randomUUID } from 'node:crypto';
import { open, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const MOST = 5_000;

export class ReadingFile {
  #folder;
  /** The last write; the next one waits for it, so that no two overtake each other. */
  #writing = Promise.resolve();

  constructor(folder) {
    this.#folder = folder;
  }

  /** Newest first. */
  async all() {
    try {
      return JSON.parse(await readFile(join(this.#folder, 'readings.json'), 'utf8'));
    } catch (error) {
      if (error.code === 'ENOENT') return [];
      throw error;
    }
  }

  async search(words) {
    const wanted = words.toLowerCase().split(/\s+/);
    return (await this.all()).filter(({ title, url }) => {
      const text = `${title} ${url ?? ''}`.toLowerCase();
      return wanted.every((word) => text.includes(word));
    });
  }

  /** @throws Error when the list is full */
  async add({ title, url, addedBy }) {
    const entry = { id: randomUUID(), title, url, addedBy, addedAt: new Date().toISOString() };
    await this.#change((entries) => {
      if (entries.length >= MOST) throw new Error(`The reading list has ${MOST} entries. Remove some first.`);
      return [entry, ...entries];
    });
    return entry;
  }

  async remove(id) {
    await this.#change((entries) => entries.filter((entry) => entry.id !== id));
  }

  #change(change) {
    const turn = this.#writing.then(async () => this.#write(change(await this.all())));
    this.#writing = turn.catch(() => {});
    return turn;
  }

  async #write(entries) {
    const path = join(this.#folder, 'readings.json');
    await writeFile(`${path}.new`, JSON.stringify(entries), { flush: true });
    await rename(`${path}.new`, path);
    const folder = await open(this.#folder);
    await folder.sync().finally(() => folder.close());
  }
}
