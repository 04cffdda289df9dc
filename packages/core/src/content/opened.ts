// What the permissions for collections and files open to an app today, in numbers.
import type { Opened } from '@platform/contract';
import { installationId } from '@platform/contract';
import { sql } from 'kysely';
import type { CoreContext } from '../context.ts';
import { type Counted, countOpened, type OpensPart, openedOf } from '../opened.ts';
import { type Act, allowedIn, includes } from './collection-rule.ts';
import { chainFrom } from './collections/collections.ts';
import { selectAround } from './collections/queries.ts';

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
      const { rows: sums } = await sql<{ items: number }>`
        SELECT coalesce(sum(items), 0)::integer AS items FROM content_collections
         WHERE id = ANY (${open.map((row) => row.id)})`.execute(database);
      return [openedOf('collections', open.length), openedOf('collection-items', sums[0]?.items ?? 0)];
    };
  return {
    'content.collections.read': collections('read'),
    'content.collections.write': collections('write'),
    'content.collections.manage': collections('manage'),
    'files.user.manage': async ({ accountKey }) => [
      await countOpened(
        database,
        'files',
        sql`SELECT FROM content_files f JOIN content_spaces s ON s.id = f.space_id
             WHERE s.owner_key = ${accountKey} AND f.installation_id IS NULL`,
      ),
    ],
  };
}
