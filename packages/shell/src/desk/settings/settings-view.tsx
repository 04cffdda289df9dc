// Loads the settings pages apart from the first load, as soon as the page is idle, and shows them.
import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import type { SettingsPage } from '../../address/view.ts';
import { Button, Note, Skeleton } from '../../design/controls.tsx';

type Pages = ComponentType<{ readonly page: SettingsPage }>;

let pages: Pages | null = null;

/** Fetches the pages ahead of their use, so that opening them waits for nothing. */
export async function loadSettings(): Promise<Pages> {
  pages ??= (await import('./settings.tsx')).Settings;
  return pages;
}

export function SettingsView({ page }: { readonly page: SettingsPage }) {
  const loaded = useSignal(pages !== null);
  const failed = useSignal(false);
  useEffect(() => {
    loadSettings().then(
      () => (loaded.value = true),
      () => (failed.value = true),
    );
  }, []);
  if (loaded.value && pages !== null) {
    const Shown = pages;
    return <Shown page={page} />;
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
