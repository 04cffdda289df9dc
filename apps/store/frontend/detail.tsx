// The page of one app in the Store.
import type { CatalogEntry } from '@platform/sdk/browser';
import { AppIcon } from '../../shared/app-icon.tsx';
import { InstallButton, type StoreActions } from './install-button.tsx';
import { publisherLine } from './publisher-line.ts';
import { usesLine } from './uses-line.ts';

interface DetailProps {
  readonly entry: CatalogEntry;
  readonly actions: StoreActions;
  readonly onBack: () => void;
}

export function Detail({ entry, actions, onBack }: DetailProps) {
  const published = new Date(entry.publishedAt);
  return (
    <article class="appears">
      <button type="button" class="link" onClick={onBack}>
        ‹ All apps
      </button>
      <div class="detail-head">
        <AppIcon name={entry.name} icon={entry.icon} large />
        <div>
          <h1>{entry.name}</h1>
          <p class="quiet">{publisherLine(entry)}</p>
        </div>
      </div>
      <p>{entry.summary}</p>
      <dl>
        <dt>Version</dt>
        {/* The digits after `+` only tell builds of the platform's own apps apart. */}
        <dd>{entry.version.split('+', 1)[0]}</dd>
        <dt>Published</dt>
        <dd>
          <time dateTime={entry.publishedAt}>{published.toLocaleDateString()}</time>
        </dd>
        <dt>Runs</dt>
        <dd>{parts(entry)}</dd>
        {entry.resources !== null && (
          <>
            <dt>Uses</dt>
            <dd>{usesLine(entry.resources)}</dd>
          </>
        )}
        {entry.connects.length > 0 && (
          <>
            <dt>Connects to</dt>
            <dd>
              <ul class="plain connects">
                {entry.connects.map((origin) => (
                  <li key={origin}>{origin === '*' ? 'any address' : origin}</li>
                ))}
              </ul>
            </dd>
          </>
        )}
      </dl>
      <p class="quiet">
        Before installing, you see every permission it requests and can turn off the ones you don’t want.
      </p>
      <p class="act">
        <InstallButton entry={entry} actions={actions} />
      </p>
    </article>
  );
}

function parts({ hasFrontend, hasWorkload }: CatalogEntry): string {
  if (!hasWorkload) return 'in your browser';
  return hasFrontend ? 'in your browser and on the server, in its own sandbox' : 'on the server, in its own sandbox';
}
