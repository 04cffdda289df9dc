// Settings: a tile that leads to the pages of the shell itself, which no app can draw. The shell opens them at once; where
// this page is shown all the same, it asks for them.
import type { App } from '@platform/sdk/browser';
import { useState } from 'preact/hooks';
import { Failure } from '../../shared/failure.tsx';
import { startApp } from '../../shared/start-app.tsx';
import { messageOf } from '../../shared/use-loaded.ts';

startApp(Settings);

function Settings({ app }: { readonly app: App }) {
  const [problem, setProblem] = useState<string>();
  const show = () => {
    app.bridge.call('chrome.set', { surface: 'permissions' }).catch((error: unknown) => setProblem(messageOf(error)));
  };
  return (
    <main>
      <h1>Settings</h1>
      <p>Settings are pages of the platform itself: no app can see or change them.</p>
      <p>
        <button type="button" class="primary" onClick={show}>
          Open Settings
        </button>
      </p>
      <Failure text={problem} />
    </main>
  );
}
