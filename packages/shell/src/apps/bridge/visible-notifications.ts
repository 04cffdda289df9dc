// Notifications as one app may see them: the account's records whose topic its `notifications.read` grant covers.
import type { Notification } from '@platform/contract';
import { coveredBy } from './grants.ts';
import type { NotificationPage, ShellSide } from './shell-side.ts';

const PAGE = 200;
/** A walk through the records ends here, so that one call of an app cannot keep the shell busy for long. */
const PAGES = 25;

interface ListQuery {
  readonly topic?: string;
  readonly unread?: boolean;
  readonly limit: number;
  readonly cursor?: string;
}

/** A page may hold fewer records than `limit` although more follow: `nextCursor` alone says where the end is. */
export async function listVisible(
  shell: ShellSide,
  topics: readonly string[],
  query: ListQuery,
): Promise<NotificationPage> {
  const page = await shell.notifications(query);
  return { items: page.items.filter(({ topic }) => coveredBy(topics, topic)), nextCursor: page.nextCursor };
}

export async function findVisible(shell: ShellSide, topics: readonly string[], id: string): Promise<boolean> {
  for await (const record of everyRecord(shell, {})) {
    if (record.id === id) return coveredBy(topics, record.topic);
  }
  return false;
}

/** @returns how many became read */
export async function markAllVisible(shell: ShellSide, topics: readonly string[]): Promise<number> {
  if (topics.includes('*')) return shell.markAllRead();
  const ids: string[] = [];
  for await (const record of everyRecord(shell, { unread: true })) {
    if (coveredBy(topics, record.topic)) ids.push(record.id);
  }
  for (const id of ids) await shell.markRead(id);
  return ids.length;
}

async function* everyRecord(shell: ShellSide, filter: { readonly unread?: boolean }): AsyncGenerator<Notification> {
  let cursor: string | null = null;
  for (let pages = 0; pages < PAGES; pages += 1) {
    const page: NotificationPage = await shell.notifications({
      ...filter,
      limit: PAGE,
      ...(cursor === null ? {} : { cursor }),
    });
    yield* page.items;
    cursor = page.nextCursor;
    if (cursor === null) return;
  }
}
