// What a search found, as it is listed: apps first, then what each app holds, the app with the best hit first.
import type { SearchResult } from '@platform/contract';

export interface Hit {
  readonly key: string;
  readonly appId: string;
  readonly title: string;
  /** What the app calls this kind of thing; `null` for an app itself. */
  readonly kind: string | null;
  /** A place in the app; `null` opens it where it begins. */
  readonly target: string | null;
}

export interface HitGroup {
  readonly key: string;
  /** Whose hits these are; `null` for apps themselves. */
  readonly appId: string | null;
  readonly hits: readonly Hit[];
  /** Hits of this group that are not listed. */
  readonly more: number;
}

/** So many results are asked for: enough that an app with a thousand good ones does not hide all others. */
export const ASKED = 50;
/** Listed of one app while others have something too, and when it is alone. */
const BESIDE_OTHERS = 4;
const ALONE = 10;

/** @param shownWhole apps of which everything is listed */
export function groupHits({ apps, items }: SearchResult, shownWhole: ReadonlySet<string>): readonly HitGroup[] {
  const groups: HitGroup[] = [];
  if (apps.length > 0) {
    const hits = apps.map(({ appId, name }) => ({ key: `app ${appId}`, appId, title: name, kind: null, target: null }));
    groups.push({ key: 'apps', appId: null, hits, more: 0 });
  }
  // A Map keeps the order in which its keys came: that of the best hit of each app.
  const byApp = Map.groupBy(items, ({ appId }) => appId);
  const most = byApp.size === 1 && apps.length === 0 ? ALONE : BESIDE_OTHERS;
  for (const [appId, all] of byApp) {
    const hits = all.map(({ id, title, kind, url }) => ({
      key: `item ${appId} ${id}`,
      appId,
      title,
      kind,
      target: url,
    }));
    // A line that offers one more would take the place of that one.
    const listed = shownWhole.has(appId) || hits.length <= most + 1 ? hits : hits.slice(0, most);
    groups.push({ key: `of ${appId}`, appId, hits: listed, more: hits.length - listed.length });
  }
  return groups;
}

/**
 * `1 result`, `7 results in 2 apps`, `9 results, 6 of them in 2 apps`: for those who cannot see the list.
 *
 * @param others what is listed besides: commands, and apps of the Store
 */
export function summaryOf({ apps, items }: SearchResult, others: number): string {
  const amount = apps.length + items.length + others;
  const found = `${amount} ${amount === 1 ? 'result' : 'results'}`;
  const holders = new Set(items.map(({ appId }) => appId)).size;
  if (holders < 2) return found;
  return others === 0 ? `${found} in ${holders} apps` : `${found}, ${items.length} of them in ${holders} apps`;
}
