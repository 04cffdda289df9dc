// The list of what was found, by app. Keys reach it through the field, which keeps the focus. Everything an app chose is
// text: no markup, and isolated, so that its direction cannot rearrange the words around it.
import { AppPicture } from '../design/controls.tsx';
import { findApp, nameOf } from '../frames/installed-apps.ts';
import type { Hit, HitGroup } from './group-hits.ts';

/** The kind of entries whose app named none. */
const UNSAID = 'item';

/** What can be chosen: a hit, or the rest of what one app has. */
export type Line =
  | { readonly kind: 'hit'; readonly key: string; readonly hit: Hit }
  | { readonly kind: 'more'; readonly key: string; readonly appId: string; readonly more: number };

function linesOfGroup({ appId, hits, more }: HitGroup): readonly Line[] {
  const lines: readonly Line[] = hits.map((hit) => ({ kind: 'hit', key: hit.key, hit }));
  return appId === null || more === 0 ? lines : [...lines, { kind: 'more', key: `more ${appId}`, appId, more }];
}

/** In the order in which they are drawn. */
export function linesOf(groups: readonly HitGroup[]): readonly Line[] {
  return groups.flatMap(linesOfGroup);
}

export function optionId(index: number): string {
  return `search-hit-${index}`;
}

interface HitListProps {
  readonly groups: readonly HitGroup[];
  readonly chosen: number;
  /** They answer what was typed before. */
  readonly stale: boolean;
  readonly onPoint: (line: Line) => void;
  readonly onChoose: (line: Line) => void;
}

export function HitList({ groups, chosen, stale, onPoint, onChoose }: HitListProps) {
  let index = -1;
  return (
    <div id="search-hits" class={stale ? 'stale' : ''} role="listbox" aria-label="Found" aria-busy={stale}>
      {groups.map((group, number) => (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset may not stand in a listbox.
        <div key={group.key} role="group" aria-labelledby={`search-group-${number}`}>
          <div id={`search-group-${number}`} class="hit-group" role="presentation">
            {group.appId === null ? 'Apps' : <InApp appId={group.appId} />}
          </div>
          {linesOfGroup(group).map((line) => {
            index += 1;
            const own = index;
            return (
              // biome-ignore lint/a11y/useKeyWithClickEvents: keys reach the options through the field.
              <div
                key={line.key}
                id={optionId(own)}
                class={line.kind}
                role="option"
                tabIndex={-1}
                aria-selected={own === chosen}
                onPointerDown={(event) => event.preventDefault()}
                onPointerMove={({ movementX, movementY }) => {
                  // Browsers report a move also where the list scrolled under a pointer that rests.
                  if (movementX !== 0 || movementY !== 0) onPoint(line);
                }}
                onClick={() => onChoose(line)}
              >
                {line.kind === 'hit' ? <HitLine hit={line.hit} /> : `${line.more} more in ${nameOf(line.appId)}`}
              </div>
            );
          })}
        </div>
      ))}
    </div>
  );
}

function InApp({ appId }: { readonly appId: string }) {
  return (
    <>
      <AppPicture name={nameOf(appId)} path={findApp(appId)?.icon ?? null} size="small" />
      <bdi>{nameOf(appId)}</bdi>
    </>
  );
}

function HitLine({ hit: { appId, title, kind } }: { readonly hit: Hit }) {
  return (
    <>
      {kind === null && <AppPicture name={title} path={findApp(appId)?.icon ?? null} size="small" />}
      <bdi class="hit-title">{title}</bdi>
      {kind !== null && kind !== UNSAID && <bdi class="hit-about">{kind}</bdi>}
    </>
  );
}
