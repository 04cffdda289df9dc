// Starts a system app: connects it to the platform, then draws it; a failure is shown in plain words, with what to do.
import { App, PlatformError } from '@platform/sdk/browser';
import { type ComponentType, render } from 'preact';
import { Failure } from './failure.tsx';
import { readKept } from './kept.ts';

export function startApp(View: ComponentType<{ readonly app: App }>): void {
  connect().then(
    (app) => render(<View app={app} />, document.body),
    (error: unknown) => render(<NotConnected error={error} />, document.body),
  );
}

async function connect(): Promise<App> {
  const app = await App.connect();
  await readKept(app);
  return app;
}

function NotConnected({ error }: { readonly error: unknown }) {
  const known = error instanceof PlatformError ? error.detail : 'This app stopped on an unexpected error.';
  return (
    <main>
      <h1>This app is not connected</h1>
      <Failure text={known} />
      <p class="quiet">Close it and open it again. Your data is safe.</p>
    </main>
  );
}
