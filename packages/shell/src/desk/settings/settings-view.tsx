// Loads the settings pages apart from the first load, as soon as the page is idle, and shows them.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Button, Note, Skeleton } from '../../design/controls.tsx';
import { type FoundPage, findPage } from './find-page.ts';
import type { AnyPage, DrawPage } from './page.ts';
import { SETTINGS_PAGES } from './pages.ts';

interface Loaded {
  readonly Settings: typeof import('./settings.tsx').Settings;
  /** What draws each page. */
  readonly drawn: ReadonlyMap<AnyPage, DrawPage<never>>;
}

let loaded: Loaded | null = null;

/** Fetches all pages ahead of their use, so that opening one waits for nothing. */
export async function loadSettings(): Promise<void> {
  if (loaded !== null) return;
  const pages = SETTINGS_PAGES.map(async (page) => [page, await page.load()] as const);
  const [{ Settings }, drawn] = await Promise.all([import('./settings.tsx'), Promise.all(pages)]);
  loaded = { Settings, drawn: new Map(drawn) };
}

/** @param path of the view, such as `apps/notes/log` */
export function SettingsView({ path }: { readonly path: string }) {
  const ready = useSignal(loaded !== null);
  const failed = useSignal(false);
  useEffect(() => {
    loadSettings().then(
      () => (ready.value = true),
      () => (failed.value = true),
    );
  }, []);
  if (ready.value && loaded !== null) {
    const { Settings, drawn } = loaded;
    const found = findPage(SETTINGS_PAGES, path);
    // It takes the parameters of its own path, which are those that were found (page.ts).
    const Page = drawn.get(found.page) as DrawPage<FoundPage['params']>;
    return <Settings found={found} Page={Page} />;
  }
  return (
    <div class="front-state">
      {failed.value ? (
        <>
          <Note tone="danger">The settings could not be loaded. The platform may have been updated.</Note>
          <Button kind="primary" icon="refresh" onClick={() => location.reload()}>
            Reload the page
          </Button>
        </>
      ) : (
        <Skeleton lines={0} label="Loading settings" />
      )}
    </div>
  );
}
