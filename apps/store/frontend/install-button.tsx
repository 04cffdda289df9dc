// The one action of an app in the Store: install it, or open it once it is there.
import type { CatalogEntry } from '@platform/sdk/browser';

export interface StoreActions {
  /** The app something is being done with. */
  readonly busy: string | undefined;
  readonly isInstalled: (entry: CatalogEntry) => boolean;
  readonly install: (entry: CatalogEntry) => void;
  readonly open: (entry: CatalogEntry) => void;
  readonly show: (entry: CatalogEntry) => void;
}

export function InstallButton({ entry, actions }: { readonly entry: CatalogEntry; readonly actions: StoreActions }) {
  if (actions.isInstalled(entry)) {
    if (!entry.hasFrontend) return <span class="badge good">Installed</span>;
    return (
      <button type="button" onClick={() => actions.open(entry)} aria-label={`Open ${entry.name}`}>
        Open
      </button>
    );
  }
  return (
    <button
      type="button"
      class="primary"
      disabled={actions.busy !== undefined}
      onClick={() => actions.install(entry)}
      aria-label={`Install ${entry.name}`}
    >
      {actions.busy === entry.appId ? 'Installing …' : 'Install'}
    </button>
  );
}
