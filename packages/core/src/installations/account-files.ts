// What the domain of installed apps adds to an export: the apps, what each may do, and its internet address.
import { type InstallationId, limits, RefusalError } from '@platform/contract';
import { type AccountFile, everyItem, jsonFile, jsonLines } from '../account-files.ts';
import type { CoreContext } from '../context.ts';
import { listApps } from './list-apps.ts';
import { readPermissions } from './permissions.ts';
import { readPublicAddress } from './public-address.ts';
import { selectOwn } from './queries.ts';

const PAGE = limits.pageMaximum.value;

/** The installed apps of an account; one that is removed meanwhile may be missing. */
export async function* everyApp(
  context: CoreContext,
  accountKey: string,
): AsyncGenerator<{ readonly appId: string; readonly id: InstallationId }> {
  const apps = everyItem((cursor) => listApps(context, accountKey, { limit: PAGE, cursor }));
  for await (const { appId } of apps) {
    const own = await selectOwn(context.database, accountKey, appId);
    if (own !== undefined) yield { appId, id: own.id };
  }
}

export async function* installationFiles(context: CoreContext, accountKey: string): AsyncGenerator<AccountFile> {
  yield* jsonLines(
    'apps',
    everyItem((cursor) => listApps(context, accountKey, { limit: PAGE, cursor })),
  );
  for await (const { appId } of everyApp(context, accountKey)) {
    const permissions = await ifInstalled(() => readPermissions(context, accountKey, appId));
    if (permissions !== null) yield jsonFile(`apps/${appId}/permissions.json`, permissions);
    const address = await ifInstalled(() => readPublicAddress(context, accountKey, appId));
    if (address !== null) yield jsonFile(`apps/${appId}/public.json`, address);
  }
}

/** `null` for an app that was removed meanwhile. */
export async function ifInstalled<Value>(read: () => Promise<Value>): Promise<Value | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof RefusalError && error.refusal.code === 'not_found') return null;
    throw error;
  }
}
