// The state of an app's backend in words, and starting or stopping it.
import type { WorkloadDetail, WorkloadStatus } from '@platform/contract';
import { useEffect } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { useAction, useReading } from '../../api/reading.ts';
import { nameOf } from '../../apps/installed-apps.ts';
import { Button, Note, Skeleton } from '../../design/controls.tsx';
import { stoppedAbout, stoppedWords } from '../../design/stopped-words.ts';
import { ago, count, inFull } from '../../design/words.ts';
import { BackendPlace } from './backend-place.tsx';
import { BackendUse } from './backend-use.tsx';

interface StateWords {
  readonly label: string;
  /** The word before how long ago that was. */
  readonly when: string;
  readonly about: string;
}

const WORDS: Record<WorkloadStatus['state'], StateWords> = {
  stopped: { label: 'Stopped', when: '', about: '' },
  starting: { label: 'Starting', when: 'began', about: '' },
  running: { label: 'Running', when: 'started', about: '' },
  failed: { label: 'Failed', when: '', about: 'See its log.' },
};

function aboutOf({ state, stoppedBy, reason }: WorkloadDetail): string | undefined {
  return state === 'stopped' && stoppedBy?.kind !== 'platform' ? stoppedAbout(stoppedBy) : reason;
}

const EVERY_MS = 3_000;

/** Polls the state while the page is visible, because a backend starts and stops by itself. */
export function BackendState({ appId }: { readonly appId: string }) {
  const reading = useReading(() => call('apps.status', { params: { appId } }));
  const { busy, failure, run } = useAction();

  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) void reading.again();
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, []);

  const status = reading.value;
  if (status === null) {
    return reading.failure === null ? (
      <Skeleton lines={1} label="Loading the state" />
    ) : (
      <Note tone="danger">{reading.failure}</Note>
    );
  }
  const running = status.state === 'running' || status.state === 'starting';
  const words = WORDS[status.state];
  return (
    <div class="backend">
      <p class="backend-line" role="status">
        <span class={`dot ${status.state}`} aria-hidden="true" />
        <strong>{status.state === 'stopped' ? stoppedWords(status.stoppedBy, nameOf) : words.label}</strong>
        <span>
          {words.when}{' '}
          <time dateTime={status.since} title={inFull(status.since)}>
            {ago(status.since)}
          </time>
          {status.restarts > 0 && `, ${count(status.restarts, 'restart')}`}
        </span>
      </p>
      <p class="quiet-text">{aboutOf(status) ?? words.about}</p>
      {status.usage !== null && <BackendUse usage={status.usage} run={status.since} />}
      {status.lastExit !== null && status.lastExit.reason !== status.reason && (
        <p class="quiet-text">
          Last exit:{' '}
          <time dateTime={status.lastExit.at} title={inFull(status.lastExit.at)}>
            {ago(status.lastExit.at)}
          </time>
          . {status.lastExit.reason}
        </p>
      )}
      <BackendPlace status={status} />
      {(failure ?? reading.failure) !== null && <Note tone="danger">{failure ?? reading.failure}</Note>}
      <div class="buttons">
        {running ? (
          <Button
            icon="stop"
            busy={busy}
            onClick={() => void run(async () => reading.put(await call('apps.stop', { params: { appId }, body: {} })))}
          >
            Stop
          </Button>
        ) : (
          <Button
            icon="play"
            busy={busy}
            onClick={() => void run(async () => reading.put(await call('apps.start', { params: { appId }, body: {} })))}
          >
            Start
          </Button>
        )}
      </div>
    </div>
  );
}
