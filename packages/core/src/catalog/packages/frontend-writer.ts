// Writes the static files of a package into a scratch folder, with our modes and not the archive's, and knows
// when all of it is on the disk, and by what it is recognised later.
import { mkdir, open } from 'node:fs/promises';
import * as path from 'node:path';
import { syncFolder } from '../../blobs/sync-folder.ts';
import { FrontendDigest } from './frontend-digest.ts';

/** Files whose fsync may be under way at the same time: journals commit them together. */
const SYNCS = 16;

export class FrontendWriter {
  /** Of what was written. */
  readonly digest = new FrontendDigest();
  readonly #root: string;
  readonly #folders = new Set<string>();
  readonly #syncing = new Set<Promise<void>>();
  readonly #failures: unknown[] = [];

  /** @param root a folder of our own; made with the first file or folder */
  constructor(root: string) {
    this.#root = root;
  }

  /** @param name a checked name, relative; its folders are made as needed */
  async folder(name: string): Promise<void> {
    const folder = path.join(this.#root, name);
    if (this.#folders.has(folder)) return;
    if (folder !== this.#root) await this.folder(path.dirname(name));
    await mkdir(folder, { recursive: folder === this.#root });
    await chmodBy(folder, 0o700);
    this.#folders.add(folder);
  }

  async file(name: string, body: AsyncIterable<Buffer>): Promise<void> {
    await this.folder(path.dirname(name));
    // Exclusive: a name that exists already, by whatever trick, is never written through.
    const handle = await open(path.join(this.#root, name), 'wx', 0o600);
    try {
      await handle.chmod(0o600);
      await handle.writeFile(this.digest.take(name, body));
    } catch (error) {
      await handle.close();
      throw error;
    }
    await this.#syncLater(() => handle.sync().finally(() => handle.close()));
  }

  /** Resolves when files and folders are on the disk. Call it in any case, or syncs outlive the scratch folder. */
  async finish(): Promise<void> {
    for (const folder of this.#folders) await this.#syncLater(() => syncFolder(folder));
    await Promise.all(this.#syncing);
    if (this.#failures.length > 0) throw this.#failures[0];
  }

  async #syncLater(sync: () => Promise<void>): Promise<void> {
    while (this.#syncing.size >= SYNCS) await Promise.race(this.#syncing);
    const running: Promise<void> = sync()
      .catch((error: unknown) => {
        this.#failures.push(error);
      })
      .finally(() => this.#syncing.delete(running));
    this.#syncing.add(running);
  }
}

async function chmodBy(folder: string, mode: number): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.chmod(mode);
  } finally {
    await handle.close();
  }
}
