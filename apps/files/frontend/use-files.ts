// The files of the person, and which apps have them.
import type { App, FileTransfer, Page, UserFile } from '@platform/sdk/browser';
import { useLoaded } from '../../shared/use-loaded.ts';

const PAGE = 200;

export interface Known {
  readonly files: readonly UserFile[];
  readonly transfers: readonly FileTransfer[];
  /** The names of apps, by id. */
  readonly names: ReadonlyMap<string, string>;
}

export function useFiles(app: App) {
  const { value, failure, reload } = useLoaded<Known>(app, async () => {
    const [files, transfers, apps] = await Promise.all([
      everything((query) => app.userFiles().list(query)),
      everything((query) => app.userFiles().transfers(query)),
      everything((query) => app.listApps(query)),
    ]);
    return { files, transfers, names: new Map(apps.map(({ appId, name }) => [appId, name])) };
  });
  async function changing(work: Promise<unknown>): Promise<void> {
    try {
      await work;
    } finally {
      await reload();
    }
  }
  const service = app.userFiles();
  return {
    known: value,
    failure,
    add: (file: File, onProgress: (share: number) => void) => changing(service.create(file.name, file, onProgress)),
    rename: (id: string, name: string) => changing(service.rename(id, name)),
    remove: (id: string) => changing(service.remove(id)),
    takeBack: (id: string, appId: string) => changing(service.takeBack(id, appId)),
    async read({ id, type }: UserFile): Promise<Blob> {
      return new Blob([(await service.get(id)).bytes], { type });
    },
  };
}

async function everything<Item>(
  read: (query: { readonly limit: number; readonly cursor?: string }) => Promise<Page<Item>>,
): Promise<Item[]> {
  const items: Item[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await read(cursor === undefined ? { limit: PAGE } : { limit: PAGE, cursor });
    items.push(...page.items);
    if (page.nextCursor === null) return items;
    cursor = page.nextCursor;
  }
}
