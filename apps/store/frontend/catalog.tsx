// The list of published apps, with a filter by name and summary.
import type { CatalogEntry } from '@platform/sdk/browser';
import { AppIcon } from '../../shared/app-icon.tsx';
import { useKept } from '../../shared/kept.ts';
import { InstallButton, type StoreActions } from './install-button.tsx';
import { publisherLine } from './publisher-line.ts';

interface CatalogProps {
  readonly entries: readonly CatalogEntry[];
  readonly loaded: boolean;
  readonly actions: StoreActions;
}

export function Catalog({ entries, loaded, actions }: CatalogProps) {
  const [filter, setFilter] = useKept<string>('filter', '');
  const wanted = filter.trim().toLowerCase();
  const matching = entries.filter(({ name, summary }) => `${name} ${summary}`.toLowerCase().includes(wanted));
  // What one does not have yet comes first; the order is the catalog's otherwise.
  const shown = [...matching].sort(
    (one, other) => Number(actions.isInstalled(one)) - Number(actions.isInstalled(other)),
  );
  return (
    <>
      <h1>Store</h1>
      <p class="quiet">Every app runs isolated, with only the permissions you give it.</p>
      <input
        class="search"
        type="search"
        placeholder="Find an app"
        aria-label="Find an app"
        value={filter}
        onInput={(event) => setFilter(event.currentTarget.value)}
      />
      {loaded && shown.length === 0 && <p>{wanted === '' ? 'Nothing is published yet.' : 'No app matches.'}</p>}
      <ul class="plain catalog">
        {shown.map((entry) => (
          <li key={entry.appId}>
            <article class="card appears">
              <div class="row">
                <AppIcon name={entry.name} icon={entry.icon} />
                <div>
                  <h2 class="name">
                    <button type="button" class="link" onClick={() => actions.show(entry)}>
                      {entry.name}
                    </button>
                  </h2>
                  <p class="quiet small">{publisherLine(entry)}</p>
                </div>
              </div>
              <p class="summary">{entry.summary}</p>
              <InstallButton entry={entry} actions={actions} />
            </article>
          </li>
        ))}
      </ul>
    </>
  );
}
