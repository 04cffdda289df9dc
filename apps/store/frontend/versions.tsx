// The versions of an app, the newest first; their publisher deletes them here.
import type { AppDetails } from '@platform/sdk/browser';
import { onDay, sizeText } from '@platform/shell/words';
import { useState } from 'preact/hooks';
import { type StoreActions, shortVersion } from './actions.ts';

interface VersionsProps {
  readonly detail: AppDetails;
  readonly actions: StoreActions;
  readonly again: () => Promise<void>;
}

/** As many as one looks at; the rest on demand. */
const FEW = 5;

export function Versions({ detail, actions, again }: VersionsProps) {
  const { appId, name, own, versions } = detail;
  const [all, setAll] = useState(false);
  const installed = actions.installed(appId);
  // The platform's own apps follow its version.
  if (detail.publisher === 'platform' || versions.length === 0) return null;
  const shown = all ? versions : versions.slice(0, FEW);
  return (
    <section aria-labelledby="versions-title">
      <h2 id="versions-title">Versions</h2>
      <ul class="plain versions">
        {shown.map(({ version, size, publishedAt }) => (
          <li key={version} class="row">
            <span class="grow">
              {shortVersion(version)} {version === installed?.version && <span class="badge good">Installed</span>}
              <span class="quiet small about">
                <time dateTime={publishedAt}>{onDay(publishedAt)}</time> · {sizeText(size)}
              </span>
            </span>
            {own && (
              <button
                type="button"
                class="danger"
                disabled={actions.busy !== undefined}
                onClick={() => void actions.withdraw(appId, version).then(again)}
                aria-label={`Delete version ${shortVersion(version)} of ${name}`}
              >
                Delete
              </button>
            )}
          </li>
        ))}
      </ul>
      {versions.length > shown.length && (
        <button type="button" class="link" onClick={() => setAll(true)}>
          Show all {versions.length} versions
        </button>
      )}
    </section>
  );
}
