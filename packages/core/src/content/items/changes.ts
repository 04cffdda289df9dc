// What changed in a collection since a cursor, and the wait for it. A wait costs no query, only its place here.
import { type CollectionId, type ContentChanges, limits, type RouteQuery, refuse } from '@platform/contract';
import type { CoreContext } from '../../context.ts';
import { awaitChange } from '../../events/await-change.ts';
import { type AppCaller, standingIn } from '../collections/standing.ts';
import { type ChangeRow, selectChanges } from './item-queries.ts';

interface ChangesCall {
  readonly caller: AppCaller;
  readonly id: CollectionId;
  readonly query: RouteQuery<'services.content.changes'>;
  readonly left: AbortSignal;
  readonly stillAllowed: () => Promise<AppCaller>;
}

/** Up to which change the reader knows the collection, and which deletions were forgotten when it began. */
type Position = readonly [change: string, forgotten: string];

interface News {
  readonly rows: readonly ChangeRow[];
  /** Deletions up to this change may be forgotten. */
  readonly forgotten: string;
}

export function waitingForChanges(context: CoreContext): (call: ChangesCall) => Promise<ContentChanges> {
  const waits = new Waits();
  return async ({ caller, id, query: { cursor, limit }, left, stillAllowed }) => {
    const list = `changes:${id}`;
    const position = cursor === undefined ? null : (context.cursors.decode(list, cursor) as Position);
    const read = async (now: AppCaller): Promise<News> => {
      await standingIn(context, now, id, 'read');
      return readNews(context, id, position, limit);
    };
    const wait = () =>
      awaitChange(context, {
        call: { caller, left, stillAllowed },
        wakeOn: [{ signal: 'content-changed', about: { member: 'collectionId', value: id } }],
        longestMilliseconds: limits.contentChangesWait.value,
        read,
        isNews: ({ rows }) => rows.length > 0,
      });
    // Whoever begins learns what there is, be it nothing.
    const news = position === null ? await read(caller) : await waits.during(caller.installationId, wait);
    const [known, begun] = position ?? ['0', news.forgotten];
    const reached: Position = [news.rows.at(-1)?.change ?? known, begun];
    return {
      items: news.rows.map(({ key, etag, changed_at }) => ({ key, etag, at: changed_at.toISOString() })),
      nextCursor: context.cursors.encode(list, reached),
    };
  };
}

/** @throws RefusalError `invalid_cursor` for one from before deletions that are forgotten */
async function readNews(
  { database }: Pick<CoreContext, 'database'>,
  id: CollectionId,
  position: Position | null,
  limit: number,
): Promise<News> {
  const news = await selectChanges(database, id, { after: position?.[0] ?? '0', limit });
  // Whoever begins needs no deletions.
  const [known, begun] = position ?? ['0', news.forgotten];
  if (BigInt(news.forgotten) > BigInt(known) && BigInt(news.forgotten) > BigInt(begun))
    throw refuse('invalid_cursor', 'So much was deleted since that not all of it is known. Begin without a cursor.');
  return news;
}

/** The calls that wait on this replica, for each installation. */
class Waits {
  readonly #byInstallation = new Map<string, number>();

  /** @throws RefusalError `concurrency_limited` */
  async during<Result>(installationId: string, wait: () => Promise<Result>): Promise<Result> {
    const waiting = this.#byInstallation.get(installationId) ?? 0;
    const most = limits.contentChangesWaits.value;
    if (waiting >= most)
      throw refuse('concurrency_limited', `At most ${most} calls may wait for changes of collections.`, {
        retryAfter: limits.contentChangesWait.value / 1_000,
      });
    this.#byInstallation.set(installationId, waiting + 1);
    try {
      return await wait();
    } finally {
      const left = (this.#byInstallation.get(installationId) ?? 1) - 1;
      if (left === 0) this.#byInstallation.delete(installationId);
      else this.#byInstallation.set(installationId, left);
    }
  }
}
