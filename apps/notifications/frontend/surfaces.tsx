// Where notifications appear besides this inbox: switches, what is muted, a test, and the way to this browser's own page.
import type { App } from '@platform/sdk/browser';
import type { Settings } from './use-settings.ts';

interface SurfacesProps {
  readonly app: App;
  readonly settings: Settings;
  readonly nameOf: (appId: string) => string;
  readonly attempt: (work: () => Promise<unknown>) => void;
}

export function Surfaces({ app, settings, nameOf, attempt }: SurfacesProps) {
  const { value } = settings;
  if (value === undefined) return null;
  return (
    <details class="card surfaces">
      <summary>Where notifications appear</summary>
      <p>
        <label>
          <input
            type="checkbox"
            checked={value.flashes}
            onChange={(event) => attempt(() => settings.change({ flashes: event.currentTarget.checked }))}
          />
          Above your apps
        </label>
      </p>
      <p>
        <label>
          <input
            type="checkbox"
            checked={value.system}
            onChange={(event) => attempt(() => settings.change({ system: event.currentTarget.checked }))}
          />
          As device notifications, while the platform is open
        </label>
      </p>
      <p>
        <label>
          <input
            type="checkbox"
            checked={value.webPush}
            onChange={(event) => attempt(() => settings.change({ webPush: event.currentTarget.checked }))}
          />
          When all windows are closed, in the browsers you set up
        </label>
      </p>
      <div class="row">
        <button type="button" onClick={() => attempt(() => sendTest(app))}>
          Send a test
        </button>
        <button
          type="button"
          onClick={() => attempt(() => app.bridge.call('chrome.set', { surface: 'notifications' }))}
        >
          Set up this browser
        </button>
      </div>
      {value.muted.length > 0 && <h2>Muted</h2>}
      <ul class="plain">
        {value.muted.map(({ appId, topic }) => {
          const what = topic === null ? nameOf(appId) : `${nameOf(appId)}: ${topic}`;
          return (
            <li key={what} class="row between">
              <span>{what}</span>
              <button
                type="button"
                aria-label={`Unmute ${what}`}
                onClick={() => attempt(() => settings.mute({ appId, topic, muted: false }))}
              >
                Unmute
              </button>
            </li>
          );
        })}
      </ul>
    </details>
  );
}

/** Important, so that it is seen also on the page one looks at. */
function sendTest(app: App): Promise<unknown> {
  return app.notifications().publish({
    topic: 'test',
    title: 'This is a test',
    body: 'This is what important notifications look like.',
    priority: 'high',
    presentation: { tone: 'accent' },
  });
}
