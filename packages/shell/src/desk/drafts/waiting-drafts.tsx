// Apps that apps made and that wait for the person, in the list of apps.
import { useEffect, useId } from 'preact/hooks';
import { AppPicture } from '../../apps/app-picture.tsx';
import { nameOf } from '../../apps/installed-apps.ts';
import { Button } from '../../design/controls.tsx';
import { ago, shortVersion } from '../../design/words.ts';
import { drafts, readDrafts, review } from './drafts.ts';

export function WaitingDrafts() {
  const id = useId();
  useEffect(() => void readDrafts().catch(() => undefined), []);
  const waiting = drafts.value ?? [];
  if (waiting.length === 0) return null;
  return (
    <section class="block" aria-labelledby={id}>
      <h3 id={id}>Waiting for you</h3>
      <ul class="rows">
        {waiting.map((draft) => (
          <li key={draft.id} class="row">
            <AppPicture appId={draft.appId} name={draft.name} path={null} />
            <span class="row-text">
              <span class="row-title">
                {draft.name}
                <span class="tag accent">{draft.installed === null ? 'New app' : 'New version'}</span>
              </span>
              <span class="row-about">
                Made by {nameOf(draft.madeBy)} {ago(draft.createdAt)}, version {shortVersion(draft.version)}
              </span>
            </span>
            <Button onClick={() => void review(draft.id)}>Review</Button>
          </li>
        ))}
      </ul>
    </section>
  );
}
