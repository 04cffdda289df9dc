// The page of one app in the Store.
import { type App, type AppDetails, type CatalogEntry, PlatformError } from '@platform/sdk/browser';
import { RatingBadge } from '@platform/shell/security-rating';
import { useEffect, useRef } from 'preact/hooks';
import { Failure } from '../../shared/failure.tsx';
import { useLoaded } from '../../shared/use-loaded.ts';
import { type StoreActions, shortVersion } from './actions.ts';
import { AppButtons } from './app-buttons.tsx';
import { Facts } from './facts.tsx';
import { Gallery } from './gallery.tsx';
import type { Icons } from './icons.ts';
import { LazyIcon } from './lazy-icon.tsx';
import { PermissionWords } from './permission-words.tsx';
import { publisherLine } from './publisher-line.ts';
import { Security } from './security.tsx';
import { Unmet } from './unmet.tsx';
import { Versions } from './versions.tsx';
import { VisibilityBadge } from './visibility-badge.tsx';

interface DetailProps {
  readonly app: App;
  readonly icons: Icons;
  readonly appId: string;
  /** As the list has it, to be shown at once; absent for an unlisted app. */
  readonly entry: CatalogEntry | undefined;
  readonly actions: StoreActions;
  readonly onBack: () => void;
}

export function Detail({ app, icons, appId, entry, actions, onBack }: DetailProps) {
  const loaded = useLoaded(app, () => app.bridge.call('apps.details', { appId }).catch(nullWhereNone));
  const shown = loaded.value ?? entry;
  const heading = useRef<HTMLHeadingElement>(null);
  const there = shown !== undefined;
  useEffect(() => heading.current?.focus(), [there]);
  return (
    <article class="appears">
      <button type="button" class="link" onClick={onBack}>
        ‹ All apps
      </button>
      {shown === undefined ? (
        <>
          {loaded.value === null && <NotFound appId={appId} />}
          <Failure text={loaded.failure} />
        </>
      ) : (
        <>
          <div class="detail-head">
            <LazyIcon icons={icons} entry={shown} large />
            <div class="head-text">
              <h1 ref={heading} tabIndex={-1}>
                {shown.name}
              </h1>
              <p class="quiet">
                {publisherLine(shown)} <VisibilityBadge {...shown} />
              </p>
              <RatingBadge rating={shown.rating} />
            </div>
          </div>
          <div class="act">
            <AppButtons entry={shown} actions={actions} />
          </div>
          <p class="lead">{shown.summary}</p>
        </>
      )}
      {loaded.value != null && <Rest app={app} detail={loaded.value} actions={actions} again={() => loaded.reload()} />}
    </article>
  );
}

function nullWhereNone(error: unknown): null {
  if (error instanceof PlatformError && error.code === 'not_found') return null;
  throw error;
}

function NotFound({ appId }: { readonly appId: string }) {
  return (
    <div class="empty">
      <h1>No such app</h1>
      <p class="quiet">
        There is no app with the id “{appId}”, or its publisher keeps it private. Check the link, or ask its sender to
        make the app unlisted or public.
      </p>
    </div>
  );
}

interface RestProps {
  readonly app: App;
  readonly detail: AppDetails;
  readonly actions: StoreActions;
  readonly again: () => Promise<void>;
}

function Rest({ app, detail, actions, again }: RestProps) {
  const { appId, name, version, changes, visibility, own } = detail;
  const former = actions.installed(appId)?.former ?? null;
  return (
    <>
      <Unmet detail={detail} />
      <Gallery app={app} detail={detail} />
      {changes !== null && (
        <section aria-labelledby="changes-title">
          <h2 id="changes-title">What’s new in {shortVersion(version)}</h2>
          <p class="changes">{changes}</p>
        </section>
      )}
      {former !== null && (
        <section class="card former" aria-labelledby="former-title">
          <h2 id="former-title">Version {shortVersion(former)} is kept</h2>
          <p class="quiet">
            You can go back to it if the new version gives you trouble. It may not be able to read data that the new
            version wrote.
          </p>
          <button type="button" disabled={actions.busy !== undefined} onClick={() => actions.install(appId, former)}>
            Go back to {shortVersion(former)}
          </button>
        </section>
      )}
      {own && visibility === 'unlisted' && (
        <p class="quiet">
          Others don’t see it in the Store. They find it by its id, <code>{appId}</code>, or at{' '}
          <code class="address">{detail.link}</code>
        </p>
      )}
      <Security detail={detail} />
      <PermissionWords name={name} permissions={detail.permissions} />
      <Facts detail={detail} />
      <Versions detail={detail} actions={actions} again={again} />
    </>
  );
}
