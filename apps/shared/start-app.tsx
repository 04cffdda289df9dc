// Starts a system app: connects it to the platform, then draws it; a failure is told in plain words with a way on.
import { App, PlatformError } from '@platform/sdk/browser';
import { type ComponentType, render } from 'preact';
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
  const known = error instanceof PlatformError ? error.detail : 'Something went wrong while opening this app.';
  return (
    <main>
      <h1>This app is not connected</h1>
      <p>{known}</p>
      <p class="quiet">Close it and open it again. Your data is safe.</p>
    </main>
  );
}
