// A list that is read page by page: what is shown is read anew as a whole, and more on request.
import type { App } from '@platform/sdk/browser';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { messageOf } from '../../shared/use-loaded.ts';

interface Wanted {
  readonly limit: number;
  readonly cursor?: string;
}

interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

export interface Pages<Item> {
  /** `undefined` until the first answer. */
  readonly items: readonly Item[] | undefined;
  readonly hasMore: boolean;
  /** What went wrong at the last attempt; the items of the one before stay. */
  readonly failure: string | undefined;
  reload(): Promise<void>;
  more(): Promise<void>;
}

const PAGE = 50;
const LARGEST = 200;

/** @param about what the list depends on: another one is another list */
export function usePages<Item>(app: App, about: string, load: (page: Wanted) => Promise<Page<Item>>): Pages<Item> {
  const [shown, setShown] = useState<Page<Item>>();
  const [failure, setFailure] = useState<string>();
  const latest = useRef({ load, shown, turn: 0 });
  latest.current.load = load;
  latest.current.shown = shown;

  /** Of several attempts at a time the last one counts. */
  const attempt = useCallback(async (read: () => Promise<Page<Item>>) => {
    latest.current.turn += 1;
    const { turn } = latest.current;
    try {
      const page = await read();
      if (turn !== latest.current.turn) return;
      setShown(page);
      setFailure(undefined);
    } catch (error) {
      if (turn === latest.current.turn) setFailure(messageOf(error));
    }
  }, []);

  const reload = useCallback(
    () => attempt(() => readAtLeast(latest.current.load, latest.current.shown?.items.length ?? 0)),
    [],
  );
  const more = useCallback(
    () =>
      attempt(async () => {
        const { items = [], nextCursor: cursor = null } = latest.current.shown ?? {};
        if (cursor === null) return { items, nextCursor: null };
        const page = await latest.current.load({ limit: PAGE, cursor });
        return { items: [...items, ...page.items], nextCursor: page.nextCursor };
      }),
    [],
  );

  useEffect(() => void attempt(() => latest.current.load({ limit: PAGE })), [about]);
  useEffect(() => {
    const again = () => void reload();
    const end = app.on('context', again);
    window.addEventListener('focus', again);
    return () => {
      end();
      window.removeEventListener('focus', again);
    };
  }, []);
  return { items: shown?.items, hasMore: (shown?.nextCursor ?? null) !== null, failure, reload, more };
}

async function readAtLeast<Item>(load: (page: Wanted) => Promise<Page<Item>>, count: number): Promise<Page<Item>> {
  const items: Item[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const limit = Math.max(PAGE, Math.min(LARGEST, count - items.length));
    const page: Page<Item> = await load(cursor === undefined ? { limit } : { limit, cursor });
    items.push(...page.items);
    cursor = page.nextCursor;
    if (items.length >= count) return { items, nextCursor: cursor };
  }
  return { items, nextCursor: null };
}
