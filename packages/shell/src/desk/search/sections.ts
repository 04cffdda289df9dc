// The list below the field, section by section: what was found, or before anything is typed what was used last.
import { findApp } from '../../apps/installed-apps.ts';
import type { ShellCommand } from './commands.ts';
import type { Hit, HitGroup } from './group-hits.ts';
import type { Recent } from './recent.ts';

/** What can be chosen: a hit, the rest of what one app has, a command, an app of the Store, or a former search. */
export type Line =
  | { readonly kind: 'hit'; readonly key: string; readonly hit: Hit }
  | { readonly kind: 'more'; readonly key: string; readonly appId: string; readonly more: number }
  | { readonly kind: 'command'; readonly key: string; readonly command: ShellCommand }
  | { readonly kind: 'offer'; readonly key: string; readonly app: Offer }
  | { readonly kind: 'past'; readonly key: string; readonly text: string };

/** An app that is not installed. */
export interface Offer {
  readonly appId: string;
  readonly name: string;
  readonly icon: string | null;
}

export interface Section {
  readonly key: string;
  /** The app of which everything in it is; `null` where the title names it. */
  readonly appId: string | null;
  readonly title: string;
  readonly lines: readonly Line[];
}

function hitLine(hit: Hit): Line {
  return { kind: 'hit', key: hit.key, hit };
}

interface Found {
  readonly groups: readonly HitGroup[];
  readonly commands: readonly ShellCommand[];
  readonly offers: readonly Offer[];
}

/** Apps first, then settings and commands, then what the apps hold, and last what could be installed. */
export function foundSections({ groups, commands, offers }: Found): readonly Section[] {
  const sections = groups.map(({ key, appId, hits, more }): Section => {
    const lines = hits.map(hitLine);
    const rest: Line[] = appId === null || more === 0 ? [] : [{ kind: 'more', key: `more ${appId}`, appId, more }];
    return { key, appId, title: 'Apps', lines: [...lines, ...rest] };
  });
  const own = sectionOf('commands', 'Settings and commands', commands, (command) => ({
    kind: 'command',
    key: `command ${command.id}`,
    command,
  }));
  const store = sectionOf('offers', 'In the Store, not installed', offers, (app) => ({
    kind: 'offer',
    key: `offer ${app.appId}`,
    app,
  }));
  const hasApps = sections[0]?.appId === null;
  return [...sections.slice(0, hasApps ? 1 : 0), ...own, ...sections.slice(hasApps ? 1 : 0), ...store];
}

/** No section where nothing is in it. */
function sectionOf<Each>(
  key: string,
  title: string,
  all: readonly Each[],
  lineOf: (each: Each) => Line,
): readonly Section[] {
  return all.length === 0 ? [] : [{ key, appId: null, title, lines: all.map(lineOf) }];
}

/** Apps that were removed are left out. */
export function recentSections({ apps, searches }: Recent): readonly Section[] {
  const hits = apps.flatMap((appId): Hit[] => {
    const app = findApp(appId);
    return app === undefined ? [] : [{ key: `app ${appId}`, appId, title: app.name, kind: null, target: null }];
  });
  const past = searches.map((text): Line => ({ kind: 'past', key: `past ${text}`, text }));
  const sections: readonly Section[] = [
    { key: 'recent apps', appId: null, title: 'Recent apps', lines: hits.map(hitLine) },
    { key: 'recent searches', appId: null, title: 'Recent searches', lines: past },
  ];
  return sections.filter(({ lines }) => lines.length > 0);
}
