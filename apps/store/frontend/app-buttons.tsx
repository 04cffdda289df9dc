// The actions of an app: install it, update it, open it once it is there.
import type { CatalogEntry } from '@platform/sdk/browser';
import { type StoreActions, shortVersion } from './actions.ts';

interface AppButtonsProps {
  readonly entry: Pick<CatalogEntry, 'appId' | 'name' | 'hasFrontend'>;
  readonly actions: StoreActions;
}

export function AppButtons({ entry, actions }: AppButtonsProps) {
  const { appId, name, hasFrontend } = entry;
  const installed = actions.installed(appId);
  const busy = actions.busy === appId;
  const idle = actions.busy === undefined;
  if (installed === undefined)
    return (
      <button
        type="button"
        class="primary"
        disabled={!idle}
        onClick={() => actions.install(appId)}
        aria-label={`Install ${name}`}
      >
        {busy ? 'Installing …' : 'Install'}
      </button>
    );
  const { upgrade } = installed;
  return (
    <div class="row">
      {upgrade !== null && (
        <button
          type="button"
          class="primary"
          disabled={!idle}
          onClick={() => actions.install(appId, upgrade)}
          aria-label={`Update ${name} to ${shortVersion(upgrade)}`}
        >
          {busy ? 'Updating …' : 'Update'}
        </button>
      )}
      {hasFrontend && (
        <button type="button" onClick={() => actions.open(appId)} aria-label={`Open ${name}`}>
          Open
        </button>
      )}
      {!hasFrontend && upgrade === null && <span class="badge good">Installed</span>}
    </div>
  );
}
