// Notifications as one app may see them: the records of the account's apps whose topic its `notifications.read` grant covers. Notices
// of the platform itself are for the person alone, under the bell: no app sees them or marks them read.
import { type Notification, PLATFORM_SENDER } from '@platform/contract';
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
  return { items: page.items.filter((record) => isVisible(topics, record)), nextCursor: page.nextCursor };
}

export async function findVisible(shell: ShellSide, topics: readonly string[], id: string): Promise<boolean> {
  for await (const record of everyRecord(shell)) {
    if (record.id === id) return isVisible(topics, record);
  }
  return false;
}

function isVisible(topics: readonly string[], { appId, topic }: Notification): boolean {
  return appId !== PLATFORM_SENDER && coveredBy(topics, topic);
}

async function* everyRecord(shell: ShellSide): AsyncGenerator<Notification> {
  let cursor: string | null = null;
  for (let pages = 0; pages < PAGES; pages += 1) {
    const page: NotificationPage = await shell.notifications({
      limit: PAGE,
      ...(cursor === null ? {} : { cursor }),
    });
    yield* page.items;
    cursor = page.nextCursor;
    if (cursor === null) return;
  }
}
