// The facts of an app: version, size, publisher, where it runs and what it uses.
import type { AppDetails, CatalogEntry } from '@platform/sdk/browser';
import { onDay, sizeText } from '@platform/shell/words';
import { shortVersion } from './actions.ts';
import { usesLine } from './uses-line.ts';

export function Facts({ detail }: { readonly detail: AppDetails }) {
  const { version, publisher, publishedAt, size, resources } = detail;
  return (
    <section aria-labelledby="facts-title">
      <h2 id="facts-title">About</h2>
      <dl>
        <dt>Version</dt>
        <dd>{shortVersion(version)}</dd>
        <dt>Published</dt>
        <dd>
          <time dateTime={publishedAt}>{onDay(publishedAt)}</time>
        </dd>
        <dt>Publisher</dt>
        <dd>{publisher === 'platform' ? 'the platform' : publisher}</dd>
        <dt>Size</dt>
        <dd>{sizeText(size)}</dd>
        <dt>Runs</dt>
        <dd>{parts(detail)}</dd>
        {resources !== null && (
          <>
            <dt>Uses</dt>
            <dd>{usesLine(resources)}</dd>
          </>
        )}
      </dl>
    </section>
  );
}

function parts({ hasFrontend, hasWorkload }: Pick<CatalogEntry, 'hasFrontend' | 'hasWorkload'>): string {
  if (!hasWorkload) return 'in your browser';
  return hasFrontend ? 'in your browser and on the server, in its own sandbox' : 'on the server, in its own sandbox';
}
