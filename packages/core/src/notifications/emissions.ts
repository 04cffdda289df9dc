// What live streams send of notifications: new ones in order of their sequence, and which were read.
import type { CoreContext } from '../context.ts';
import { type Emission, emission, type Sent } from '../events/emission.ts';
import { lastRead, listAfter, notificationOf, onlyVisible } from './queries.ts';
import { visibilityOf } from './routes.ts';

const PAGE = 100;
const READ_ON_RESUME = 200;
const READERS = ['session', 'frontend', 'installation'] as const;

export function notificationEmissions({ database, pool }: Pick<CoreContext, 'database' | 'pool'>): readonly Emission[] {
  return [
    // First what is new: it may be among what was read.
    emission({
      signal: 'notification-published',
      event: 'notification',
      to: READERS,
      async *read({ caller, position }) {
        const visibility = visibilityOf(caller);
        for (let after = position, more = true; more; ) {
          const rows = await listAfter(pool, visibility, { after, limit: PAGE });
          for (const row of rows) {
            yield { data: { notification: notificationOf(row) }, id: row.sequence };
            after = row.sequence;
          }
          more = rows.length === PAGE;
        }
      },
    }),
    emission({
      signal: 'notifications-read',
      event: 'notifications-read',
      to: READERS,
      holds: ({ ids }) => ids ?? [],
      async *read({ caller }, ids) {
        const visibility = visibilityOf(caller);
        const all = ids.length === 0 || visibility.topics === null;
        yield* readEvent(all ? ids : await onlyVisible(database, visibility, ids));
      },
      async *missed({ caller, position }) {
        const page = { upTo: position, limit: READ_ON_RESUME };
        yield* readEvent(await lastRead(database, visibilityOf(caller), page));
      },
    }),
    emission({ signal: 'notification-settings-changed', event: 'notification-settings', to: ['session'] }),
  ];
}

function readEvent(ids: readonly string[]): Sent<{ ids: string[] }>[] {
  return ids.length === 0 ? [] : [{ data: { ids: [...ids] } }];
}
