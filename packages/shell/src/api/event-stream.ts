// The live events of the account (`GET /v1/events`). The browser resumes short breaks itself with Last-Event-ID; a
// refusal ends its attempts, so this goes on with growing waits and says when it had to start anew.
import type { Notification, ShellEvent } from '@platform/contract';

type EventName = ShellEvent['event'];
type DataOf<Name extends EventName> = Extract<ShellEvent, { event: Name }>['data'];

export interface EventStreamOptions {
  readonly onNotification: (notification: Notification) => void;
  readonly onRead: (ids: readonly string[] | null) => void;
  readonly onApps: () => void;
  /** The account was paused or resumed. */
  readonly onRuntime: () => void;
  /** A stream began that may have missed events: lists should be read again. */
  readonly onFreshStart: () => void;
  readonly onLive: (live: boolean) => void;
  /** Core refused the stream; the reason is not readable here, so the session may have ended. */
  readonly onRefused: () => void;
}

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;
/** Browsers allow six connections to one host over HTTP/1.1; a tab nobody looks at gives its stream back. */
const HIDDEN_MS = 60_000;

/** Opens the stream and keeps it open. @returns a function that closes it for good */
export function openEventStream(options: EventStreamOptions): () => void {
  let source: EventSource | null = null;
  let wait = FIRST_WAIT_MS;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let hiddenTimer: ReturnType<typeof setTimeout> | undefined;

  function listen<Name extends EventName>(stream: EventSource, name: Name, act: (data: DataOf<Name>) => void): void {
    stream.addEventListener(name, (event) => act(JSON.parse(event.data) as DataOf<Name>));
  }

  function connect(): void {
    const stream = new EventSource('/v1/events');
    source = stream;
    let opened = false;
    stream.addEventListener('open', () => {
      wait = FIRST_WAIT_MS;
      options.onLive(true);
      if (!opened) options.onFreshStart();
      opened = true;
    });
    stream.addEventListener('error', () => {
      options.onLive(false);
      if (stream.readyState !== EventSource.CLOSED) return;
      options.onRefused();
      timer = setTimeout(connect, wait);
      wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    });
    listen(stream, 'notification', ({ notification }) => options.onNotification(notification));
    listen(stream, 'notifications-read', ({ ids }) => options.onRead(ids));
    listen(stream, 'apps', () => options.onApps());
    listen(stream, 'runtime', () => options.onRuntime());
  }

  function disconnect(): void {
    clearTimeout(timer);
    source?.close();
    source = null;
  }

  function onVisibility(): void {
    clearTimeout(hiddenTimer);
    if (document.hidden) hiddenTimer = setTimeout(disconnect, HIDDEN_MS);
    else if (source === null) connect();
  }

  document.addEventListener('visibilitychange', onVisibility);
  connect();
  return () => {
    document.removeEventListener('visibilitychange', onVisibility);
    clearTimeout(hiddenTimer);
    disconnect();
  };
}
