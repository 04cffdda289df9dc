// The order of the tiles on the home screen, for the shell and for Launcher: what the person pinned, their apps, and the parts
// of the platform; in each what they moved, and then the others by name.
import type { HomeTiles, InstalledApp } from '@platform/contract';

export type { HomeTiles };

type Tile = Pick<InstalledApp, 'appId' | 'name' | 'builtIn'>;

export interface Arranged<App> {
  readonly pinned: readonly App[];
  /** Apps that the person chose to install. */
  readonly rest: readonly App[];
  /** Parts of the platform. */
  readonly parts: readonly App[];
}

export type Section = keyof Arranged<unknown>;

export const UNARRANGED: HomeTiles = { pinned: [], order: [] };

const names = new Intl.Collator('en', { sensitivity: 'base', numeric: true });

/** By name, as every list of apps is. */
export function byName(one: { readonly name: string }, other: { readonly name: string }): number {
  return names.compare(one.name, other.name);
}

/** Where an app is that is not pinned. */
export function sectionOf({ builtIn }: Pick<Tile, 'builtIn'>): Section {
  return builtIn ? 'parts' : 'rest';
}

/** In its section, an app that nobody moved comes last. */
export function arrange<App extends Tile>(apps: readonly App[], { pinned, order }: HomeTiles): Arranged<App> {
  const moved = (ids: readonly string[]) => ids.flatMap((id) => apps.find(({ appId }) => appId === id) ?? []);
  const unmoved = apps.filter(({ appId }) => !pinned.includes(appId) && !order.includes(appId)).toSorted(byName);
  const others = [...moved(order.filter((appId) => !pinned.includes(appId))), ...unmoved];
  const of = (section: Section) => others.filter((app) => sectionOf(app) === section);
  return { pinned: moved(pinned), rest: of('rest'), parts: of('parts') };
}

/** Every tile once, in the order in which they are shown. */
export function allTiles<App>({ pinned, rest, parts }: Arranged<App>): readonly App[] {
  return [...pinned, ...rest, ...parts];
}

/** With the app at `index` of the section, counted without it: one of its own section, or `pinned`. */
export function moveTile(
  arranged: Arranged<Pick<InstalledApp, 'appId'>>,
  appId: string,
  to: { readonly section: Section; readonly index: number },
): HomeTiles {
  const idsOf = (section: Section) => {
    const ids = arranged[section].map((app) => app.appId).filter((id) => id !== appId);
    if (section === to.section) ids.splice(Math.max(0, to.index), 0, appId);
    return ids;
  };
  return { pinned: idsOf('pinned'), order: [...idsOf('rest'), ...idsOf('parts')] };
}
