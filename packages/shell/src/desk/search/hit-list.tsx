// The list of what was found, by app. Keys reach it through the field, which keeps the focus. Everything an app chose is
// text: no markup, and isolated, so that its direction cannot rearrange the words around it.

import { AppPicture } from '../../apps/app-picture.tsx';
import { findApp, nameOf } from '../../apps/installed-apps.ts';
import { Icon } from '../../design/icons.tsx';
import type { Hit } from './group-hits.ts';
import type { Line, Offer, Section } from './sections.ts';

/** The kind of entries whose app named none. */
const UNSAID = 'item';

/** In the order in which they are drawn. */
export function linesOf(sections: readonly Section[]): readonly Line[] {
  return sections.flatMap(({ lines }) => lines);
}

export function optionId(index: number): string {
  return `search-hit-${index}`;
}

interface HitListProps {
  readonly sections: readonly Section[];
  readonly chosen: number;
  /** They answer what was typed before. */
  readonly stale: boolean;
  readonly onPoint: (line: Line) => void;
  readonly onChoose: (line: Line) => void;
}

export function HitList({ sections, chosen, stale, onPoint, onChoose }: HitListProps) {
  let index = -1;
  return (
    <div id="search-hits" class={stale ? 'stale' : ''} role="listbox" aria-label="Found" aria-busy={stale}>
      {sections.map((section, number) => (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset may not stand in a listbox.
        <div key={section.key} role="group" aria-labelledby={`search-group-${number}`}>
          <div id={`search-group-${number}`} class="hit-group" role="presentation">
            {section.appId === null ? section.title : <InApp appId={section.appId} />}
          </div>
          {section.lines.map((line) => {
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
                <LineText line={line} />
              </div>
            );
          })}
        </div>
      ))}
    </div>
  );
}

function LineText({ line }: { readonly line: Line }) {
  if (line.kind === 'hit') return <HitLine hit={line.hit} />;
  if (line.kind === 'offer') return <OfferLine app={line.app} />;
  if (line.kind === 'more') return <>{`${line.more} more in ${nameOf(line.appId)}`}</>;
  const { icon, title, about } =
    line.kind === 'past' ? ({ icon: 'clock', title: line.text, about: '' } as const) : line.command;
  return (
    <>
      <span class="hit-icon">
        <Icon name={icon} size={18} />
      </span>
      <bdi class="hit-title">{title}</bdi>
      {about !== '' && <span class="hit-about">{about}</span>}
    </>
  );
}

function InApp({ appId }: { readonly appId: string }) {
  return (
    <>
      <AppPicture appId={appId} name={nameOf(appId)} path={findApp(appId)?.icon ?? null} size="small" />
      <bdi>{nameOf(appId)}</bdi>
    </>
  );
}

function OfferLine({ app: { appId, name, icon } }: { readonly app: Offer }) {
  return (
    <>
      <AppPicture appId={appId} name={name} path={icon} size="small" />
      <bdi class="hit-title">{name}</bdi>
      <span class="hit-about">Not installed</span>
    </>
  );
}

function HitLine({ hit: { appId, title, kind } }: { readonly hit: Hit }) {
  return (
    <>
      {kind === null && <AppPicture appId={appId} name={title} path={findApp(appId)?.icon ?? null} size="small" />}
      <bdi class="hit-title">{title}</bdi>
      {kind !== null && kind !== UNSAID && <bdi class="hit-about">{kind}</bdi>}
      {kind === null && findApp(appId)?.builtIn === true && <span class="hit-about">Part of the platform</span>}
    </>
  );
}
