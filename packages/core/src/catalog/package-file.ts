// Where the files of a published package lie.
import * as path from 'node:path';
import { BlobStore } from '../blobs/blob-store.ts';
import type { CoreConfig } from '../config/config.ts';

/** Where packages are. */
export interface StoreContext {
  readonly config: Pick<CoreConfig, 'packagesDirectory'>;
}

/** Packages as uploaded, and beside each that has a frontend its static files. */
export function packageBlobs({ config }: StoreContext): BlobStore {
  return new BlobStore(config.packagesDirectory, '.tgz');
}

/** The blob of a published package, as uploaded. */
export function packageFile(context: StoreContext, hash: string): string {
  return packageBlobs(context).file(hash);
}

/** The static files of a published package that has a frontend. */
export function frontendFolder(context: StoreContext, hash: string): string {
  return path.join(packageBlobs(context).unpacked(hash), 'frontend');
}
