// Which static files a package holds. Packages never change, so the list is read once, and a request is answered from
// the list: a path that is not in it reaches no file system call at all.
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import * as path from 'node:path';
import { LRUCache } from 'lru-cache';
import { frontendFolder, servedNames } from '../catalog/face.ts';
import type { CoreContext } from '../context.ts';

/** Names kept in memory, over all packages. */
const MOST_NAMES = 200_000;

type FilesContext = Pick<CoreContext, 'config' | 'frontends'>;

export class PackageFiles {
  readonly #context: FilesContext;
  readonly #lists = new LRUCache<string, ReadonlySet<string>>({
    maxSize: MOST_NAMES,
    sizeCalculation: (names) => names.size + 1,
  });
  readonly #reading = new Map<string, Promise<ReadonlySet<string>>>();

  constructor(context: FilesContext) {
    this.#context = context;
  }

  /**
   * Paths of the static files of a package, relative to its `frontend/`, with `/` between segments.
   *
   * @throws RefusalError `unavailable` when they are not what was published; Error when the package is not on the disk
   */
  async names(hash: string): Promise<ReadonlySet<string>> {
    const known = this.#lists.get(hash);
    if (known !== undefined) return known;
    const reading = this.#reading.get(hash) ?? this.#read(hash);
    this.#reading.set(hash, reading);
    return reading;
  }

  async #read(hash: string): Promise<ReadonlySet<string>> {
    try {
      const names = new Set<string>();
      for await (const name of servedNames(await this.#context.frontends.folder(hash))) names.add(name);
      this.#lists.set(hash, names);
      return names;
    } finally {
      this.#reading.delete(hash);
    }
  }

  /** Opens a file of {@link names}; a link, which no package holds, is not followed. */
  async open(hash: string, name: string): Promise<FileHandle> {
    const file = path.join(frontendFolder(this.#context, hash), name);
    return open(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  }
}
