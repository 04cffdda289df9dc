// The log of an app's backend as it grows: the newest lines at the bottom, like a terminal, older ones on request.
import type { LogEntry } from '@platform/contract';
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { addressOf, settingsAt } from '../../address/view.ts';
import { plainMessage } from '../../api/api-error.ts';
import { call } from '../../api/client.ts';
import { openLogStream } from '../../api/log-stream.ts';
import { nameOf } from '../../apps/installed-apps.ts';
import { Button, Empty, Note, Skeleton } from '../../design/controls.tsx';
import { PageHead } from '../../design/page-head.tsx';
import { atTime, inFull } from '../../design/words.ts';
import { BackendState } from './backend-state.tsx';
import { begun, emptyLog, type ShownLine, type ShownLog, withNewer, withOlder } from './log-lines.ts';

const STREAMS = { stdout: 'out', stderr: 'error', system: 'platform' } as const satisfies Record<
  LogEntry['stream'],
  string
>;
/** Pixels from the end within which the end is what is being read. */
const NEAR_END = 24;

export function AppLogPage({ appId }: { readonly appId: string }) {
  const log = useSignal<ShownLog | null>(null);
  const live = useSignal(false);
  const failure = useSignal<string | null>(null);
  const readingOlder = useSignal(false);
  /** Whether the end is in view; new lines then keep it there. */
  const atEnd = useSignal(true);
  const view = useRef<HTMLDivElement>(null);

  const showEnd = () => {
    const element = view.current;
    if (element !== null) element.scrollTop = element.scrollHeight;
  };

  useEffect(
    () =>
      openLogStream({
        appId,
        onFirstLines: (lines) => {
          log.value = begun(lines);
          failure.value = null;
        },
        onMoreLines: (lines) => {
          log.value = withNewer(log.value ?? emptyLog, lines);
        },
        onLive: (now) => {
          live.value = now;
        },
        onRefused: (refusal) => {
          failure.value = plainMessage(refusal);
        },
      }),
    [],
  );
  useEffect(() => {
    if (atEnd.value) showEnd();
  }, [log.value]);

  async function showOlder(cursor: string): Promise<void> {
    if (readingOlder.value) return;
    readingOlder.value = true;
    try {
      const page = await call('apps.logs', { params: { appId }, query: { limit: 200, cursor } });
      log.value = withOlder(log.value ?? emptyLog, [...page.items].reverse(), page.nextCursor);
      failure.value = null;
    } catch (error) {
      failure.value = plainMessage(error);
    } finally {
      readingOlder.value = false;
    }
  }

  const shown = log.value;
  return (
    <>
      <PageHead
        title={`Log of ${nameOf(appId)}`}
        up={{ href: addressOf(settingsAt('apps/:appId', { appId })), label: nameOf(appId) }}
      />
      <section class="block" aria-label="State">
        <BackendState appId={appId} />
      </section>
      <section class="block" aria-label="Log lines">
        <div class="log-head">
          <p class="quiet-text">The last 1,000 lines are kept.</p>
          <p class={`live ${live.value ? 'on' : ''}`} role="status">
            <span class="dot" aria-hidden="true" />
            {live.value ? 'Live' : 'Connecting …'}
          </p>
        </div>
        {failure.value !== null && <Note tone="danger">{failure.value}</Note>}
        {shown === null && failure.value === null && <Skeleton lines={6} label="Loading the log" />}
        {shown !== null && shown.lines.length === 0 && (
          <Empty icon="log" title="No lines yet">
            The backend’s output appears here once it has started.
          </Empty>
        )}
        {shown !== null && shown.lines.length > 0 && (
          <div class="log-frame">
            <div
              ref={view}
              class="log"
              role="log"
              aria-label={`Log of ${nameOf(appId)}`}
              // A program that writes without end must not make a screen reader talk without end.
              aria-live="off"
              // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard.
              tabIndex={0}
              onScroll={({ currentTarget: area }) => {
                atEnd.value = area.scrollHeight - area.scrollTop - area.clientHeight < NEAR_END;
              }}
            >
              {shown.older !== null && (
                <Button kind="quiet" busy={readingOlder.value} onClick={() => void showOlder(shown.older ?? '')}>
                  Show older lines
                </Button>
              )}
              {shown.shortened && (
                <p class="quiet-text">Earlier lines were removed from this page. Reopen it to read them.</p>
              )}
              <ol>
                {shown.lines.map((line) => (
                  <Line key={line.key} line={line} />
                ))}
              </ol>
            </div>
            {!atEnd.value && (
              <div class="log-end">
                <Button icon="down" onClick={showEnd}>
                  Newest lines
                </Button>
              </div>
            )}
          </div>
        )}
      </section>
    </>
  );
}

function Line({ line: { at, stream, line } }: { readonly line: ShownLine }) {
  return (
    <li class={`log-entry ${stream}`}>
      <time dateTime={at} title={inFull(at)}>
        {atTime(at)}
      </time>
      <span class="log-stream">{STREAMS[stream]}</span>
      <span class="log-line">{line}</span>
    </li>
  );
}
