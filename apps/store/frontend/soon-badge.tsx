// Marks an app of the platform whose function comes in a later version.
import type { CatalogEntry } from '@platform/sdk/browser';

export function SoonBadge({ publisher, categories }: Pick<CatalogEntry, 'publisher' | 'categories'>) {
  if (publisher !== 'platform' || !categories.includes('soon')) return null;
  return (
    <span class="badge">
      Soon<span class="only-read">: not available yet</span>
    </span>
  );
}
