// The log of an app's backend: the newest lines at the bottom, like a terminal, older ones on request.
import type { LogEntry } from '@platform/contract';
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { plainMessage } from '../api/api-error.ts';
import { call } from '../api/client.ts';
import { Button, Empty, Note, Skeleton } from '../design/controls.tsx';
import { atTime, inFull } from '../design/words.ts';
import { nameOf } from '../frames/installed-apps.ts';
import { BackendState } from './backend-state.tsx';
import { PageHead } from './settings.tsx';

interface Log {
  /** Oldest first. */
  readonly lines: readonly LogEntry[];
  readonly older: string | null;
}

const STREAMS = { stdout: 'out', stderr: 'error', system: 'platform' } as const;

async function readLog(appId: string, cursor?: string): Promise<Log> {
  const page = await call('apps.logs', { params: { appId }, query: { limit: 200, cursor } });
  return { lines: [...page.items].reverse(), older: page.nextCursor };
}

export function AppLogPage({ appId }: { readonly appId: string }) {
  const log = useSignal<Log | null>(null);
  const failure = useSignal<string | null>(null);
  const reading = useSignal(false);
  const view = useRef<HTMLDivElement>(null);

  async function attempt(work: () => Promise<void>): Promise<void> {
    if (reading.value) return;
    reading.value = true;
    try {
      await work();
      failure.value = null;
    } catch (error) {
      failure.value = plainMessage(error);
    } finally {
      reading.value = false;
    }
  }

  const refresh = () =>
    attempt(async () => {
      log.value = await readLog(appId);
    });
  const showOlder = (cursor: string) =>
    attempt(async () => {
      const older = await readLog(appId, cursor);
      log.value = { lines: [...older.lines, ...(log.value?.lines ?? [])], older: older.older };
    });

  useEffect(() => {
    void refresh();
  }, []);

  /** New lines keep the end in view, unless the person scrolled up to read. */
  const atEnd = useRef(true);
  useEffect(() => {
    const element = view.current;
    if (element !== null && atEnd.current) element.scrollTop = element.scrollHeight;
  }, [log.value]);

  return (
    <>
      <PageHead title={`Log of ${nameOf(appId)}`} up={{ page: { page: 'app', appId }, label: nameOf(appId) }} />
      <section class="block" aria-label="State">
        <BackendState appId={appId} onTick={() => atEnd.current && void refresh()} />
      </section>
      <section class="block" aria-label="Log lines">
        <div class="log-head">
          <p class="quiet-text">The last 1,000 lines are kept.</p>
          <Button icon="refresh" busy={reading.value} onClick={() => void refresh()}>
            Refresh
          </Button>
        </div>
        {failure.value !== null && <Note tone="danger">{failure.value}</Note>}
        {log.value === null && failure.value === null && <Skeleton lines={6} label="Loading the log" />}
        {log.value !== null && log.value.lines.length === 0 && (
          <Empty icon="log" title="No lines yet">
            What the backend writes to its output appears here once it has started.
          </Empty>
        )}
        {log.value !== null && log.value.lines.length > 0 && (
          <div
            ref={view}
            class="log"
            role="log"
            aria-label={`Log of ${nameOf(appId)}`}
            // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard.
            tabIndex={0}
            onScroll={({ currentTarget: area }) => {
              atEnd.current = area.scrollHeight - area.scrollTop - area.clientHeight < 24;
            }}
          >
            {log.value.older !== null && (
              <Button kind="quiet" onClick={() => void showOlder(log.value?.older ?? '')}>
                Show older lines
              </Button>
            )}
            <ol>
              {log.value.lines.map((line, index) => (
                <li key={`${line.at} ${index}`} class={`log-entry ${line.stream}`}>
                  <time dateTime={line.at} title={inFull(line.at)}>
                    {atTime(line.at)}
                  </time>
                  <span class="log-stream">{STREAMS[line.stream]}</span>
                  <span class="log-line">{line.line}</span>
                </li>
              ))}
            </ol>
          </div>
        )}
      </section>
    </>
  );
}
