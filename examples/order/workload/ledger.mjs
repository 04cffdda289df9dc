// Entries by key in one file of the volume, each written once: booking with a known key gives the entry that is there. A
// write is complete or did not happen, also when the power fails. One process has the volume, so it reads the file once.
import { EventEmitter, once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { open, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export class Ledger {
  #folder;
  #path;
  #entries;
  #booked = new EventEmitter();
  /** The last write; the next one waits for it, so that no two overtake each other. */
  #writing = Promise.resolve();

  constructor(folder, name) {
    this.#folder = folder;
    this.#path = join(folder, `${name}.json`);
    this.#entries = existsSync(this.#path) ? JSON.parse(readFileSync(this.#path, 'utf8')) : [];
  }

  find(key) {
    return this.#entries.find((entry) => entry.key === key);
  }

  /** Oldest first. */
  all() {
    return this.#entries;
  }

  of(order) {
    return this.#entries.find((entry) => entry.order === order);
  }

  /** The entry of this order, as soon as there is one. Rejects when the signal aborts. */
  async until(order, signal) {
    return this.of(order) ?? (await once(this.#booked, order, { signal }))[0];
  }

  /** @returns the first entry that was booked with this key */
  book(key, entry) {
    const turn = this.#writing.then(() => this.find(key) ?? this.#add({ key, at: new Date().toISOString(), ...entry }));
    this.#writing = turn.catch(() => {});
    return turn;
  }

  async #add(entry) {
    const entries = [...this.#entries, entry];
    await writeFile(`${this.#path}.new`, JSON.stringify(entries), { flush: true });
    await rename(`${this.#path}.new`, this.#path);
    const folder = await open(this.#folder);
    await folder.sync().finally(() => folder.close());
    this.#entries = entries;
    this.#booked.emit(entry.order, entry);
    return entry;
  }
}
