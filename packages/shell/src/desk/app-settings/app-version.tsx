// What is new in the version that is installed or offered, and the way back to the one before.
import type { InstalledApp } from '@platform/contract';
import { call } from '../../api/client.ts';
import { useAction, useReading } from '../../api/reading.ts';
import { Button, Note } from '../../design/controls.tsx';
import { shortVersion } from '../../design/words.ts';
import { askToInstall } from '../prompts/ask-to-install.ts';
import { Changes } from '../prompts/changes.tsx';

export function AppVersion({ app }: { readonly app: InstalledApp }) {
  const { appId, former } = app;
  const version = app.upgrade ?? app.version;
  const reading = useReading(() => call('catalog.read', { params: { appId }, query: { version } }));
  const { failure, run } = useAction();
  const changes = reading.value?.changes ?? null;
  if (changes === null && former === null) return null;
  return (
    <section class="block" aria-label="Version">
      <Changes version={version} changes={changes} />
      {former !== null && (
        <>
          {changes === null && <h3>Version</h3>}
          <p class="quiet-text">
            {app.name} {shortVersion(former)} is kept, in case {shortVersion(app.version)} gives you trouble. Data that{' '}
            {shortVersion(app.version)} wrote may not be readable by {shortVersion(former)}.
          </p>
          <div class="buttons">
            <Button icon="back" onClick={() => void run(() => askToInstall(appId, former, null))}>
              Go back to {shortVersion(former)}
            </Button>
          </div>
          {failure !== null && <Note tone="danger">{failure}</Note>}
        </>
      )}
    </section>
  );
}
