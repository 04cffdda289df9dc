// An event stream that stays open while the page is visible. The browser resumes short breaks itself with
// Last-Event-ID; a refusal ends its attempts, so this reconnects with growing delays, each time with a new stream.
export interface LastingStreamOptions {
  /** Path at the shell's own origin. */
  readonly path: string;
  /** Called with every new stream, to listen on it. */
  readonly onStream: (stream: EventSource) => void;
  readonly onLive: (live: boolean) => void;
  /** Core refused the stream; the reason is not readable here, so the session may have ended. */
  readonly onRefused: () => void;
  /**
   * Called when the page is hidden. If it calls `chosen`, the stream stays open in the background until `shown` is
   * aborted.
   */
  readonly whileHidden?: (shown: AbortSignal, chosen: () => void) => void;
}

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;
/** Browsers allow six connections to one host over HTTP/1.1; a hidden tab closes its stream after this time. */
const HIDDEN_MS = 60_000;

/** Opens the stream and keeps it open. @returns a function that closes it for good */
export function openLastingStream(options: LastingStreamOptions): () => void {
  let source: EventSource | null = null;
  let wait = FIRST_WAIT_MS;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let shown = new AbortController();
  let hiddenTimer: ReturnType<typeof setTimeout> | undefined;

  function connect(): void {
    const stream = new EventSource(options.path);
    source = stream;
    stream.addEventListener('open', () => {
      wait = FIRST_WAIT_MS;
      options.onLive(true);
    });
    stream.addEventListener('error', () => {
      options.onLive(false);
      if (stream.readyState !== EventSource.CLOSED) return;
      options.onRefused();
      timer = setTimeout(connect, wait);
      wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    });
    options.onStream(stream);
  }

  function disconnect(): void {
    clearTimeout(timer);
    source?.close();
    source = null;
  }

  function onVisibility(): void {
    clearTimeout(hiddenTimer);
    shown.abort();
    if (document.hidden) hide();
    else if (source === null) connect();
  }

  function hide(): void {
    shown = new AbortController();
    options.whileHidden?.(shown.signal, () => {
      clearTimeout(hiddenTimer);
      if (source === null) connect();
    });
    hiddenTimer = setTimeout(disconnect, HIDDEN_MS);
  }

  document.addEventListener('visibilitychange', onVisibility);
  connect();
  return () => {
    document.removeEventListener('visibilitychange', onVisibility);
    clearTimeout(hiddenTimer);
    shown.abort();
    disconnect();
  };
}
