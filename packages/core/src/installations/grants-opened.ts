// What the grants of an installed app open today, in numbers.
import { type GrantsOpened, matchesResource, refuse } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { type Counted, type OpensPart, openedOf } from '../opened.ts';
import { selectAppIds, selectOwn } from './queries.ts';

/** @throws RefusalError `not_found` */
export async function readGrantsOpened(context: CoreContext, accountKey: string, appId: string): Promise<GrantsOpened> {
  const installation = await selectOwn(context.database, accountKey, appId);
  if (installation === undefined) throw refuse('not_found');
  const grants: GrantsOpened['grants'] = [];
  for (const { id, resources } of installation.grants) {
    const opens = await context.opens.of(id, { accountKey, installationId: installation.id, appId, resources });
    if (opens !== null) grants.push({ id, opens: [...opens] });
  }
  return { grants };
}

/** What is granted for apps, by their ids. */
export function appsOpened({ database }: CoreContext): OpensPart {
  const apps = async ({ accountKey, appId, resources }: Counted) => {
    const ids = (await selectAppIds(database, accountKey)).filter(
      (id) => id !== appId && resources.some((pattern) => matchesResource(pattern, id)),
    );
    return [openedOf('apps', ids.length)];
  };
  return {
    'apps.catalog.read': apps,
    'apps.uninstall': apps,
    'apps.lifecycle': apps,
    'runtime.status.read': apps,
  };
}
