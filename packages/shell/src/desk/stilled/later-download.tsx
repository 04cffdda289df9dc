// The button that downloads the account, on a page of the first load that few people ever see.
import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { Note } from '../../design/controls.tsx';

export function LaterDownload() {
  const loaded = useSignal<{ readonly DownloadButton: ComponentType } | 'failed' | null>(null);
  useEffect(() => {
    import('../../session/download-button.tsx').then(
      ({ DownloadButton }) => (loaded.value = { DownloadButton }),
      () => (loaded.value = 'failed'),
    );
  }, []);
  if (loaded.value === null) return null;
  if (loaded.value === 'failed') return <Note tone="danger">The download could not be loaded. Reload the page.</Note>;
  const { DownloadButton } = loaded.value;
  return <DownloadButton />;
}
