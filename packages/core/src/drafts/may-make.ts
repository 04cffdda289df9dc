// Which apps an app may make: new ones, and further versions of those that it made itself.
import { limits, refuse } from '@platform/contract';
import { compareVersions, findAppVersion } from '../catalog/face.ts';
import type { Executor } from '../database/schema.ts';
import { countMade, selectMaker } from './queries.ts';

export interface Making {
  readonly accountKey: string;
  readonly appId: string;
  readonly version: string;
  /** The id of the app that makes it. */
  readonly madeBy: string;
}

/**
 * That the app id is another account's is for publishing to say.
 *
 * @throws RefusalError `not_authorized` for an app that came about in another way, that is no longer private, and beyond
 *   `limits.madeApps`; `version_exists` for a version that is not the highest
 */
export async function requireMakeable(db: Executor, { accountKey, appId, version, madeBy }: Making): Promise<void> {
  const newest = await findAppVersion(db, appId);
  if (newest !== undefined && newest.ownerKey !== accountKey) return;
  const maker = await selectMaker(db, accountKey, appId);
  if (maker !== undefined && maker !== madeBy)
    throw refuse(
      'not_authorized',
      `${appId} was made by ${maker}, which alone makes versions of it. Choose another id.`,
    );
  if (newest === undefined) return requireRoom(db, accountKey);
  if (maker === undefined)
    throw refuse('not_authorized', `${appId} was not made by an app, so none makes versions of it. Choose another id.`);
  if (newest.visibility !== 'private')
    throw refuse('not_authorized', `${appId} is no longer private, so only its owner publishes versions of it.`);
  if (newest.version !== version && compareVersions(version, newest.version) > 0)
    throw refuse(
      'version_exists',
      `${appId} has version ${newest.version}. Put a higher one than that into manifest.json.`,
    );
}

async function requireRoom(db: Executor, accountKey: string): Promise<void> {
  const most = limits.madeApps.value;
  if ((await countMade(db, accountKey)) >= most)
    throw refuse(
      'not_authorized',
      `An account has at most ${most} apps that apps made. Remove one, and delete its versions in the Store.`,
    );
}
