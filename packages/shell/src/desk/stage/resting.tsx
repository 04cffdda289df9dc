// What stands where an app would be whose backend rests until a person does something: who stopped it, or why it failed.
import type { LogEntry, WorkloadDetail } from '@platform/contract';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { go, settingsAt } from '../../address/view.ts';
import { call } from '../../api/client.ts';
import { useAction } from '../../api/reading.ts';
import { AppPicture } from '../../apps/app-picture.tsx';
import { relaunch } from '../../apps/frames/open-apps.ts';
import { followStatus } from '../../apps/frames/resting-backends.ts';
import { findApp, nameOf } from '../../apps/installed-apps.ts';
import { Button, Note } from '../../design/controls.tsx';
import { stoppedAbout, stoppedWords } from '../../design/stopped-words.ts';
import { ago, inFull } from '../../design/words.ts';

/** Of the end of the log of a backend that failed. */
const LINES = 6;

export function Resting({ appId, status }: { readonly appId: string; readonly status: WorkloadDetail }) {
  const name = nameOf(appId);
  const { busy, failure, run } = useAction();
  const failed = status.state === 'failed';
  const start = () =>
    run(async () => {
      followStatus(appId, await call('apps.start', { params: { appId }, body: {} }));
    });
  return (
    <div class="front-state resting" role={failed ? 'alert' : 'status'}>
      <AppPicture appId={appId} name={name} path={findApp(appId)?.icon ?? null} size="large" />
      <h2>{failed ? `${name} failed` : `${name} is stopped`}</h2>
      <p>
        {failed ? (status.reason ?? 'Its backend exited.') : stoppedWords(status.stoppedBy, nameOf)}
        {!failed && (
          <>
            {', '}
            <time dateTime={status.since} title={inFull(status.since)}>
              {ago(status.since)}
            </time>
            . {status.reason !== undefined && status.stoppedBy?.kind === 'platform' && `${status.reason} `}
            {stoppedAbout(status.stoppedBy)}
          </>
        )}
      </p>
      {failed && <EndOfLog appId={appId} name={name} />}
      {failure !== null && <Note tone="danger">{failure}</Note>}
      <div class="buttons">
        <Button kind="primary" icon="play" busy={busy} onClick={() => void start()}>
          {failed ? 'Start again' : 'Start'}
        </Button>
        <Button icon="log" onClick={() => go(settingsAt(failed ? 'apps/:appId/log' : 'apps/:appId', { appId }))}>
          {failed ? 'See its log' : 'Show it in Settings'}
        </Button>
        <Button kind="quiet" onClick={() => relaunch(appId)}>
          Open it anyway
        </Button>
      </div>
    </div>
  );
}

function EndOfLog({ appId, name }: { readonly appId: string; readonly name: string }) {
  const lines = useSignal<readonly LogEntry[]>([]);
  useEffect(() => {
    call('apps.logs', { params: { appId }, query: { limit: LINES } }).then(
      ({ items }) => {
        lines.value = items.toReversed();
      },
      // The reason stands above, and the log page says why there is none.
      () => undefined,
    );
  }, []);
  if (lines.value.length === 0) return null;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with the keyboard.
    <section class="end-of-log" tabIndex={0} aria-label={`End of the log of ${name}`}>
      <pre>{lines.value.map(({ line }) => line).join('\n')}</pre>
    </section>
  );
}
