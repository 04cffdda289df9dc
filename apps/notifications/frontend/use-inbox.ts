// The records of the inbox: pages of them, kept current by the live stream.
import type { Notification, NotificationsService } from '@platform/sdk/browser';
import { useEffect, useRef, useState } from 'preact/hooks';
import { messageOf } from '../../shared/use-loaded.ts';

interface State {
  readonly items: readonly Notification[];
  readonly cursor: string | null;
  readonly loaded: boolean;
}

const EMPTY: State = { items: [], cursor: null, loaded: false };

export function useInbox(service: NotificationsService, { unreadOnly }: { readonly unreadOnly: boolean }) {
  const [state, setState] = useState<State>(EMPTY);
  const [failure, setFailure] = useState<string>();
  const cursor = useRef<string | null>(null);
  cursor.current = state.cursor;

  async function page(from: string | null, signal?: AbortSignal): Promise<void> {
    const answer = await service.list({
      ...(unreadOnly ? { unread: true } : {}),
      ...(from === null ? {} : { cursor: from }),
      ...(signal === undefined ? {} : { signal }),
    });
    setState((before) => ({
      items: from === null ? answer.items : [...before.items, ...answer.items],
      cursor: answer.nextCursor,
      loaded: true,
    }));
  }

  useEffect(() => {
    const ending = new AbortController();
    const { signal } = ending;
    setState(EMPTY);
    setFailure(undefined);
    follow(service, signal, {
      start: () => page(null, signal),
      arrived: (notification) =>
        setState((before) => ({ ...before, items: [notification, ...without(before.items, [notification.id])] })),
      read: (ids) => setState((before) => ({ ...before, items: markRead(before.items, ids) })),
    }).catch((error: unknown) => {
      if (!signal.aborted) setFailure(messageOf(error));
    });
    return () => ending.abort();
  }, [service, unreadOnly]);

  return {
    items: state.items,
    loaded: state.loaded,
    hasMore: state.cursor !== null,
    failure,
    more: () => page(cursor.current),
    async read(id: string) {
      const stored = await service.read(id);
      setState((before) => ({ ...before, items: before.items.map((item) => (item.id === id ? stored : item)) }));
    },
    async readAll() {
      await service.readAll();
      setState((before) => ({ ...before, items: markRead(before.items, null) }));
    },
  };
}

interface Following {
  readonly start: () => Promise<void>;
  readonly arrived: (notification: Notification) => void;
  readonly read: (ids: readonly string[] | null) => void;
}

async function follow(service: NotificationsService, signal: AbortSignal, on: Following): Promise<void> {
  await on.start();
  for await (const event of service.stream({ signal })) {
    if (event.event === 'notification') on.arrived(event.data.notification);
    if (event.event === 'notifications-read') on.read(event.data.ids);
  }
}

function without(items: readonly Notification[], ids: readonly string[]): Notification[] {
  return items.filter((item) => !ids.includes(item.id));
}

/** `null` means all of them. */
function markRead(items: readonly Notification[], ids: readonly string[] | null): Notification[] {
  const now = new Date().toISOString();
  return items.map((item) =>
    item.readAt === null && (ids === null || ids.includes(item.id)) ? { ...item, readAt: now } : item,
  );
}
