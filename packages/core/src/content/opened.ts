// What the permissions for collections and files open to an app today, in numbers.
import { installationId, type Opened } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { type Counted, type OpensPart, openedOf } from '../opened.ts';
import { type Act, allowedIn, includes } from './collection-rule.ts';
import { chainFrom } from './collections/collections.ts';
import { selectAround } from './collections/queries.ts';
import { countItems, countUserFiles } from './opened-queries.ts';

export function contentOpened({ database }: Pick<CoreContext, 'database'>): OpensPart {
  /** By the rule that decides, with this permission alone. */
  const collections =
    (act: Act) =>
    async ({ accountKey, installationId: id, resources }: Counted): Promise<Opened[]> => {
      const rows = await selectAround(database, { accountKey, installationId: installationId.parse(id) });
      const byId = new Map(rows.map((row) => [row.id, row]));
      const grants = [{ id: `content.collections.${act}` as const, resources: [...resources] }];
      const open = rows.filter((row) => {
        const allowed = allowedIn({ chain: chainFrom(row, byId), grants, ending: row.ends_at !== null });
        return allowed !== null && includes(allowed.act, act);
      });
      const items = await countItems(
        database,
        open.map((row) => row.id),
      );
      return [openedOf('collections', open.length), openedOf('collection-items', items)];
    };
  return {
    'content.collections.read': collections('read'),
    'content.collections.write': collections('write'),
    'content.collections.manage': collections('manage'),
    'files.user.manage': async ({ accountKey }) => [await countUserFiles(database, accountKey)],
  };
}
