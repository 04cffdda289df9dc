// What an export has of one volume. Its node may be a stranger's machine, and an app may have made anything in it: whoever
// unpacks the archive gets files below the folder of the volume and nothing else.

import { Readable } from 'node:stream';
import { limits } from '@platform/contract';
import { leadsInside, type VolumeEntry } from '@platform/contract/volume-stream';
import type { AccountEntry } from '../account-files.ts';
import type { ReadVolume } from '../nodes/face.ts';

/** Links are written last, so that no file is written through one; these many at most. */
const MOST_LINKS = 10_000;
/** Bytes of links, and of what is named as left out. */
const MOST_LISTED = 1_024 * 1_024;

type Link = Extract<VolumeEntry, { type: 'link' }>;

/** @param folder of the archive, such as `apps/notes/volume` */
export async function* volumeEntries(volume: ReadVolume, folder: string): AsyncGenerator<AccountEntry> {
  const at = (path: string) => `${folder}/${path}`;
  const missing = new LeftOut();
  const links = new Map<string, Link>();
  let linkBytes = 0;
  let room = limits.exportedVolume.value;
  const folders: string[] = [];
  for await (const entry of volume) {
    if (entry.type === 'left out') {
      missing.add(entry.path, entry.why);
      continue;
    }
    enter(folders, entry.path);
    if (entry.type === 'folder') {
      folders.push(entry.path);
      yield { kind: 'folder', path: at(entry.path), modified: new Date(entry.modified) };
    } else if (entry.type === 'file') {
      const { bytes, path, executable, modified, content } = entry;
      room -= bytes;
      if (room < 0) throw new Error(`the volume in ${folder} is larger than an export may contain`);
      const file = { bytes, open: () => Readable.from(content(), { objectMode: false, highWaterMark: 64 * 1_024 }) };
      yield { path: at(path), content: bytes === 0 ? Buffer.alloc(0) : file, executable, modified: new Date(modified) };
    } else if (entry.type === 'name') yield { kind: 'name', path: at(entry.path), of: at(entry.of) };
    else {
      linkBytes += entry.path.length + entry.target.length;
      if (!leadsInside(entry)) missing.add(entry.path, `it is a link out of the volume, to ${entry.target}`);
      else if (links.size >= MOST_LINKS || linkBytes > MOST_LISTED)
        missing.add(entry.path, 'it is one of too many links');
      else links.set(entry.path, entry);
    }
  }
  for (const { path, target } of links.values()) {
    if (isBelow(path, links)) missing.add(path, 'it is below another link');
    else yield { kind: 'link', path: at(path), target };
  }
  yield* missing.files(folder);
}

/** Whole lines of what a volume has and the archive has not, as far as they fit. */
export class LeftOut {
  readonly #lines: string[] = [];
  #bytes = 0;
  #more = 0;

  add(path: string, why: string): void {
    const line = `${JSON.stringify({ path, why })}\n`;
    this.#bytes += line.length;
    if (this.#bytes <= MOST_LISTED) this.#lines.push(line);
    else this.#more += 1;
  }

  *files(folder: string): Generator<AccountEntry> {
    if (this.#lines.length + this.#more === 0) return;
    if (this.#more > 0) this.#lines.push(`${JSON.stringify({ more: this.#more })}\n`);
    yield { path: `${folder}-left-out.jsonl`, content: Buffer.from(this.#lines.join('')) };
  }
}

/** A node names each folder before what is in it, and is done with it before the next. @throws Error when it does not */
function enter(folders: string[], path: string): void {
  const parent = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '';
  while (folders.length > 0 && folders.at(-1) !== parent) folders.pop();
  if ((folders.at(-1) ?? '') !== parent) throw new Error('a node named a file before its folder');
}

function isBelow(path: string, links: ReadonlyMap<string, unknown>): boolean {
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1))
    if (links.has(path.slice(0, end))) return true;
  return false;
}
