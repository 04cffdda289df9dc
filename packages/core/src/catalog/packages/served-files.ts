// Which files of an unpacked frontend are served: regular files only, and none whose name or folder begins with a dot, except
// `.well-known` at the root.
import { readdir } from 'node:fs/promises';
import * as path from 'node:path';

/** Of a file, or of a folder whose files may be. @param name relative to `frontend/`, with `/` between segments */
export function isServed(name: string): boolean {
  return name
    .split('/')
    .every((segment, depth) => !segment.startsWith('.') || (depth === 0 && segment === '.well-known'));
}

/**
 * Names relative to `root`, with `/` between segments, in no particular order.
 *
 * @throws Error when the folder is not there
 */
export async function* servedNames(root: string): AsyncGenerator<string> {
  const folders = [''];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of await readdir(path.join(root, folder), { withFileTypes: true })) {
      const name = folder + entry.name;
      if (!isServed(name)) continue;
      if (entry.isDirectory()) folders.push(`${name}/`);
      else if (entry.isFile()) yield name;
    }
  }
}
