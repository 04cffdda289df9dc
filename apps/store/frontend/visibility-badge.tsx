// Who finds an app, where that is not everyone.
import type { CatalogEntry } from '@platform/sdk/browser';

const WORDS = { unlisted: 'Unlisted', private: 'Only you' } as const;

export function VisibilityBadge({ visibility, own }: Pick<CatalogEntry, 'visibility' | 'own'>) {
  if (visibility === 'public') return null;
  // Somebody else's app that became private and is installed here.
  if (visibility === 'private' && !own) return <span class="badge">No longer offered</span>;
  return <span class="badge">{WORDS[visibility]}</span>;
}
