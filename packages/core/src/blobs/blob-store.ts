// Large bodies of a domain, in a folder by the hash of their bytes: `<hash><extension>` the body, `<hash>/` what the domain
// unpacked of it, and `incoming/` what is still being received. Complete things appear by renaming, so a crash leaves scratch,
// and bodies that no row refers to; the next start removes both.
import { createReadStream, existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import * as path from 'node:path';
import type { Readable } from 'node:stream';
import type pg from 'pg';
import { unlessReceiving, whileReceiving } from './receiving-lock.ts';
import { openScratch } from './scratch.ts';
import { syncFolder } from './sync-folder.ts';

/** SHA-256, hexadecimal. */
const HASH = /^[0-9a-f]{64}$/;

export interface ReceivedBlob {
  readonly hash: string;
  /** The complete body, in the scratch folder. */
  readonly file: string;
  /** A folder in the scratch folder that belongs to the body. Default: there is none. Nor is there one where nothing lies. */
  readonly unpacked?: string;
}

export class BlobStore {
  readonly #folder: string;
  readonly #extension: string;

  /**
   * @param folder of this domain alone, on a disk that all replicas share
   * @param extension of the bodies, with its dot
   */
  constructor(folder: string, extension: string) {
    this.#folder = folder;
    this.#extension = extension;
  }

  /** Where the body lies. */
  file(hash: string): string {
    return `${this.unpacked(hash)}${this.#extension}`;
  }

  /** Where lies what was unpacked of the body. A hash becomes a path, so it is never taken on trust. */
  unpacked(hash: string): string {
    if (!HASH.test(hash)) throw new TypeError('not a hash of a body');
    return path.join(this.#folder, hash);
  }

  /** Reads a body of `bytes` bytes. */
  open(hash: string, bytes: number): Readable {
    return createReadStream(this.file(hash), { end: Math.max(0, bytes - 1) });
  }

  /** Runs `work` with a scratch folder on the disk of the bodies, removed afterwards whatever happened. No replica sweeps meanwhile. */
  receive<Result>(pool: pg.Pool, work: (scratch: string) => Promise<Result>): Promise<Result> {
    return whileReceiving(pool, async () => {
      const { folder, close } = await openScratch(path.join(this.#folder, 'incoming'));
      try {
        return await work(folder);
      } finally {
        await close();
      }
    });
  }

  /**
   * Moves a received body to its place, durably. What is there already holds the same bytes and stays. To be called in
   * {@link receive}, last in the transaction that adds the row which refers to the body: of two that add it at the same time
   * only the winner comes here, and when this fails there is no row.
   */
  async keep({ hash, file, unpacked }: ReceivedBlob): Promise<void> {
    const place = this.unpacked(hash);
    if (unpacked !== undefined && existsSync(unpacked) && !existsSync(place)) await rename(unpacked, place);
    await rename(file, this.file(hash));
    await syncFolder(this.#folder);
  }

  /** Removes a body and what was unpacked of it. To be called while nobody can add a row that refers to it. */
  async remove(hash: string): Promise<void> {
    await rm(this.file(hash), { force: true });
    await rm(this.unpacked(hash), { recursive: true, force: true });
  }

  /**
   * Removes scratch, and bodies that were kept but that no committed row refers to. To be called at the start; does nothing
   * while any replica receives.
   *
   * @param referenced which of the given hashes the database refers to
   */
  sweep(pool: pg.Pool, referenced: (hashes: string[]) => Promise<ReadonlySet<string>>): Promise<void> {
    return unlessReceiving(pool, async () => {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      await rm(path.join(this.#folder, 'incoming'), { recursive: true, force: true });
      const hashOf = (name: string) => (name.endsWith(this.#extension) ? name.slice(0, -this.#extension.length) : name);
      const kept = (await readdir(this.#folder)).filter((name) => HASH.test(hashOf(name)));
      const wanted = await referenced([...new Set(kept.map(hashOf))]);
      for (const name of kept)
        if (!wanted.has(hashOf(name))) await rm(path.join(this.#folder, name), { recursive: true, force: true });
    });
  }
}
