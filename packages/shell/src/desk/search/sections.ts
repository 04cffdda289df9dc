// The list below the field, section by section: what was found, or before anything is typed what was used last.
import { findApp } from '../../apps/installed-apps.ts';
import type { ShellCommand } from './commands.ts';
import type { Hit, HitGroup } from './group-hits.ts';
import type { Recent } from './recent.ts';

/** What can be chosen: a hit, the rest of what one app has, a command, or a former search. */
export type Line =
  | { readonly kind: 'hit'; readonly key: string; readonly hit: Hit }
  | { readonly kind: 'more'; readonly key: string; readonly appId: string; readonly more: number }
  | { readonly kind: 'command'; readonly key: string; readonly command: ShellCommand }
  | { readonly kind: 'past'; readonly key: string; readonly text: string };

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

/** Apps first, then settings and commands, then what the apps hold. */
export function foundSections(groups: readonly HitGroup[], commands: readonly ShellCommand[]): readonly Section[] {
  const sections = groups.map(({ key, appId, hits, more }): Section => {
    const lines = hits.map(hitLine);
    const rest: Line[] = appId === null || more === 0 ? [] : [{ kind: 'more', key: `more ${appId}`, appId, more }];
    return { key, appId, title: 'Apps', lines: [...lines, ...rest] };
  });
  if (commands.length === 0) return sections;
  const lines = commands.map((command): Line => ({ kind: 'command', key: `command ${command.id}`, command }));
  const own: Section = { key: 'commands', appId: null, title: 'Settings and commands', lines };
  const hasApps = sections[0]?.appId === null;
  return [...sections.slice(0, hasApps ? 1 : 0), own, ...sections.slice(hasApps ? 1 : 0)];
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
