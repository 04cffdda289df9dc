// The order of the tiles on the home screen, for the shell and for Launcher: what the person pinned, what they moved, and
// the rest by name.
import type { HomeTiles, InstalledApp } from '@platform/contract';

export type { HomeTiles };

type Tile = Pick<InstalledApp, 'appId' | 'name' | 'system' | 'comingSoon'>;

export interface Arranged<App> {
  readonly pinned: readonly App[];
  readonly rest: readonly App[];
}

export type Section = keyof Arranged<unknown>;

export const UNARRANGED: HomeTiles = { pinned: [], order: [] };

const names = new Intl.Collator('en', { sensitivity: 'base', numeric: true });

/** By name, as every list of apps is. */
export function byName(one: { readonly name: string }, other: { readonly name: string }): number {
  return names.compare(one.name, other.name);
}

/** An app that nobody moved comes last; among these a person's own before the platform's, what comes later at the end. */
export function arrange<App extends Tile>(apps: readonly App[], { pinned, order }: HomeTiles): Arranged<App> {
  const moved = (ids: readonly string[]) => ids.flatMap((id) => apps.find(({ appId }) => appId === id) ?? []);
  const others = apps.filter(({ appId }) => !pinned.includes(appId) && !order.includes(appId));
  const unmoved = others.toSorted(
    (one, other) =>
      Number(one.comingSoon) - Number(other.comingSoon) ||
      Number(one.system) - Number(other.system) ||
      byName(one, other),
  );
  return { pinned: moved(pinned), rest: [...moved(order), ...unmoved] };
}

/** With the app at `index` of the section, counted without it. */
export function moveTile(
  { pinned, rest }: Arranged<Pick<InstalledApp, 'appId'>>,
  appId: string,
  to: { readonly section: Section; readonly index: number },
): HomeTiles {
  const lists = { pinned: idsWithout(pinned, appId), rest: idsWithout(rest, appId) };
  lists[to.section].splice(Math.max(0, to.index), 0, appId);
  return { pinned: lists.pinned, order: lists.rest };
}

function idsWithout(apps: readonly Pick<InstalledApp, 'appId'>[], without: string): string[] {
  return apps.map(({ appId }) => appId).filter((appId) => appId !== without);
}
