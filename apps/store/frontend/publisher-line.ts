// Who published an app, in words.
import type { CatalogEntry } from '@platform/sdk/browser';

export function publisherLine({ publisher }: CatalogEntry): string {
  return publisher === 'platform' ? 'Comes with the platform' : `by ${publisher}`;
}
