// Whether two versions of an app look alike: by the bytes of their icons, since names of files say nothing.
import * as path from 'node:path';
import { limits, RefusalError } from '@platform/contract';
import type { CoreContext } from '../../context.ts';
import { readUpTo } from '../packages/read-bytes.ts';
import type { AppVersion } from '../queries.ts';

type IconContext = Pick<CoreContext, 'frontends'>;
type Version = Pick<AppVersion, 'packageHash' | 'manifest'>;

export async function haveSameIcon(context: IconContext, one: Version, other: Version): Promise<boolean> {
  if (one.packageHash === other.packageHash) return true;
  try {
    const [first, second] = await Promise.all([iconBytes(context, one), iconBytes(context, other)]);
    return first === null || second === null ? first === second : first.equals(second);
  } catch (error) {
    // A damaged package vouches for no icon, and another version is the way out of it.
    if (error instanceof RefusalError) return false;
    throw error;
  }
}

async function iconBytes({ frontends }: IconContext, { packageHash, manifest }: Version): Promise<Buffer | null> {
  if (manifest.icon === undefined) return null;
  return readUpTo(path.join(await frontends.folder(packageHash), manifest.icon), limits.iconSize.value);
}
