// Where the files of a published package lie.
import * as path from 'node:path';
import type { CoreConfig } from '../config/config.ts';

/** Where packages are. */
export interface StoreContext {
  readonly config: Pick<CoreConfig, 'packagesDirectory'>;
}

export const PACKAGE_HASH = /^[0-9a-f]{64}$/;

/** The blob of a published package, as uploaded. */
export function packageFile(context: StoreContext, hash: string): string {
  return `${unpackedFolder(context, hash)}.tgz`;
}

/** The static files of a published package that has a frontend. */
export function frontendFolder(context: StoreContext, hash: string): string {
  return path.join(unpackedFolder(context, hash), 'frontend');
}

/** A hash becomes a path, so it is never taken on trust. */
export function unpackedFolder({ config }: StoreContext, hash: string): string {
  if (!PACKAGE_HASH.test(hash)) throw new TypeError('not a package hash');
  return path.join(config.packagesDirectory, hash);
}
