// The live log of an app's backend (`GET /v1/apps/:appId/logs/stream`). The browser resumes short breaks itself; after a
// refusal this goes on with growing waits, and begins anew.
import type { LogEvent } from '@platform/contract';

type Lines = LogEvent['data'];

export interface LogStreamOptions {
  readonly appId: string;
  /** A stream began anew: what was shown before is replaced by these lines. */
  readonly onBegin: (lines: Lines) => void;
  readonly onMore: (lines: Lines) => void;
  readonly onLive: (live: boolean) => void;
  /** Core refused the stream; the reason is not readable here. */
  readonly onRefused: () => void;
}

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;
/** Browsers allow six connections to one host over HTTP/1.1; a tab nobody looks at gives its stream back. */
const HIDDEN_MS = 60_000;
const NEWEST = 200;

/** Opens the stream and keeps it open. @returns a function that closes it for good */
export function openLogStream(options: LogStreamOptions): () => void {
  let source: EventSource | null = null;
  let wait = FIRST_WAIT_MS;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let hiddenTimer: ReturnType<typeof setTimeout> | undefined;

  function connect(): void {
    const stream = new EventSource(`/v1/apps/${encodeURIComponent(options.appId)}/logs/stream?newest=${NEWEST}`);
    source = stream;
    stream.addEventListener('open', () => {
      wait = FIRST_WAIT_MS;
      options.onLive(true);
    });
    stream.addEventListener('lines', (event) => {
      const lines = JSON.parse(event.data) as Lines;
      // Only the first event of a new stream says where older lines are.
      if (lines.older === undefined) options.onMore(lines);
      else options.onBegin(lines);
    });
    stream.addEventListener('error', () => {
      options.onLive(false);
      if (stream.readyState !== EventSource.CLOSED) return;
      options.onRefused();
      timer = setTimeout(connect, wait);
      wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    });
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
