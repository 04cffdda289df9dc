// The list of published apps, with what there is to update first, and a filter by name and summary.
import type { CatalogEntry, InstalledApp } from '@platform/sdk/browser';
import { RatingBadge } from '@platform/shell/security-rating';
import { useKept } from '../../shared/kept.ts';
import { type StoreActions, shortVersion } from './actions.ts';
import { AppButtons } from './app-buttons.tsx';
import type { Icons } from './icons.ts';
import { LazyIcon } from './lazy-icon.tsx';
import { publisherLine } from './publisher-line.ts';
import { VisibilityBadge } from './visibility-badge.tsx';

interface CatalogProps {
  readonly icons: Icons;
  /** `undefined` until they are loaded. */
  readonly entries: readonly CatalogEntry[] | undefined;
  readonly installed: readonly InstalledApp[];
  readonly actions: StoreActions;
}

const APP_ID = /^(?=.{3,40}$)[a-z0-9]+(-[a-z0-9]+)*$/;

export function Catalog({ icons, entries, installed, actions }: CatalogProps) {
  const [filter, setFilter] = useKept<string>('filter', '');
  const wanted = filter.trim().toLowerCase();
  const updates = wanted === '' ? installed.filter(({ upgrade }) => upgrade !== null) : [];
  const matching = (entries ?? []).filter(
    ({ appId, name, summary }) =>
      `${name} ${summary}`.toLowerCase().includes(wanted) && !updates.some((app) => app.appId === appId),
  );
  const isInstalled = ({ appId }: CatalogEntry) => Number(actions.installed(appId) !== undefined);
  // What one does not have yet comes first.
  const shown = [...matching].sort(
    (one, other) => isInstalled(one) - isInstalled(other) || one.name.localeCompare(other.name),
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
      <Updates icons={icons} apps={updates} entries={entries} actions={actions} />
      {entries !== undefined && shown.length + updates.length === 0 && (
        <NothingFound wanted={wanted} actions={actions} />
      )}
      <ul class="plain catalog">
        {shown.map((entry) => (
          <li key={entry.appId}>
            <article class="card appears">
              <div class="row nowrap">
                <LazyIcon icons={icons} entry={entry} />
                <div class="head-text">
                  <h2 class="name">
                    <button type="button" class="link" onClick={() => actions.show(entry.appId)}>
                      {entry.name}
                    </button>
                  </h2>
                  <p class="quiet small">
                    {publisherLine(entry)} <VisibilityBadge {...entry} />
                  </p>
                </div>
              </div>
              <p class="summary">{entry.summary}</p>
              <RatingBadge rating={entry.rating} />
              <AppButtons entry={entry} actions={actions} />
            </article>
          </li>
        ))}
      </ul>
    </>
  );
}

interface UpdatesProps extends Omit<CatalogProps, 'installed'> {
  readonly apps: readonly InstalledApp[];
}

function Updates({ icons, apps, entries = [], actions }: UpdatesProps) {
  if (apps.length === 0) return null;
  // Of the version that is offered, which the catalog has unless the app is unlisted.
  const ratings = new Map(entries.map(({ appId, rating }) => [appId, rating]));
  return (
    <section aria-labelledby="updates-title">
      <h2 id="updates-title">
        Updates <span class="badge good">{apps.length}</span>
      </h2>
      <ul class="plain updates">
        {apps.map((app) => (
          <li key={app.appId} class="card row">
            <LazyIcon icons={icons} entry={app} />
            <div class="head-text">
              <h3 class="name">
                <button type="button" class="link" onClick={() => actions.show(app.appId)}>
                  {app.name}
                </button>
              </h3>
              <p class="quiet small">
                {shortVersion(app.version)} → {shortVersion(app.upgrade ?? app.version)}
              </p>
              <Rated rating={ratings.get(app.appId)} />
            </div>
            <AppButtons entry={app} actions={actions} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Rated({ rating }: { readonly rating: CatalogEntry['rating'] | undefined }) {
  return rating === undefined ? null : <RatingBadge rating={rating} />;
}

/** Unlisted apps are in no list; their id leads to them. */
function NothingFound({ wanted, actions }: { readonly wanted: string; readonly actions: StoreActions }) {
  if (wanted === '')
    return <p class="empty">Nothing is published yet. Publish an app of your own with “./platform publish”.</p>;
  return (
    <div class="empty">
      <p>No app matches “{wanted}”. Try another word, or the id of an unlisted app.</p>
      {APP_ID.test(wanted) && (
        <button type="button" onClick={() => actions.show(wanted)}>
          Look up the app id “{wanted}”
        </button>
      )}
    </div>
  );
}
