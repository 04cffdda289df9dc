// An event stream that stays open while the page is visible. Over fetch, because EventSource cannot say which session it
// is of. A stream that breaks is resumed with Last-Event-ID; one that was refused begins anew, after growing delays.
import { eventParser, type TextEvent } from '@platform/contract/event-text';
import { ApiError } from './api-error.ts';
import { send } from './client.ts';

export interface LastingStreamOptions {
  /** Path at the shell's own origin. */
  readonly path: string;
  readonly onEvent: (event: TextEvent) => void;
  /** A stream began that does not go on where another one broke. Default: nothing happens. */
  readonly onBegin?: () => void;
  readonly onLive: (live: boolean) => void;
  /** Core refused the stream. Whether the session is over has been seen to. Default: nothing happens. */
  readonly onRefused?: (refusal: ApiError) => void;
  /**
   * Called when the page is hidden. If it calls `chosen`, the stream stays open in the background until `shown` is
   * aborted.
   */
  readonly whileHidden?: (shown: AbortSignal, chosen: () => void) => void;
}

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;
/** Between attempts to resume: core mostly starts again, or the machine has just found its network. */
const LONGEST_WAIT_TO_RESUME_MS = 4_000;
/** Browsers allow six connections to one host over HTTP/1.1; a hidden tab closes its stream after this time. */
const HIDDEN_MS = 60_000;

/** Opens the stream and keeps it open. @returns a function that closes it for good */
export function openLastingStream(options: LastingStreamOptions): () => void {
  let connection: AbortController | null = null;
  let shown = new AbortController();
  let hiddenTimer: ReturnType<typeof setTimeout> | undefined;

  function connect(): void {
    connection = new AbortController();
    void keepOpen(options, connection.signal);
  }

  function disconnect(): void {
    connection?.abort();
    connection = null;
  }

  function onVisibility(): void {
    clearTimeout(hiddenTimer);
    shown.abort();
    if (document.hidden) hide();
    else if (connection === null) connect();
  }

  function hide(): void {
    shown = new AbortController();
    options.whileHidden?.(shown.signal, () => {
      clearTimeout(hiddenTimer);
      if (connection === null) connect();
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

async function keepOpen(options: LastingStreamOptions, signal: AbortSignal): Promise<void> {
  let last: string | undefined;
  let wait = FIRST_WAIT_MS;
  while (!signal.aborted) {
    let longest = LONGEST_WAIT_TO_RESUME_MS;
    try {
      const response = await open(options.path, last, signal);
      wait = FIRST_WAIT_MS;
      options.onLive(true);
      if (last === undefined) options.onBegin?.();
      await read(response, options.onEvent, (id) => {
        last = id;
      });
    } catch (error) {
      // Anything else is the connection, which broke.
      if (error instanceof ApiError && error.status > 0 && !signal.aborted) {
        last = undefined;
        longest = LONGEST_WAIT_MS;
        options.onRefused?.(error);
      }
    }
    if (signal.aborted) return;
    options.onLive(false);
    await pause(wait, signal);
    wait = Math.min(wait * 2, longest);
  }
}

function open(path: string, last: string | undefined, signal: AbortSignal): Promise<Response> {
  const headers = { accept: 'text/event-stream', ...(last === undefined ? {} : { 'last-event-id': last }) };
  return send(path, { headers, cache: 'no-store', signal });
}

async function read(
  { body }: Response,
  onEvent: (event: TextEvent) => void,
  keepId: (id: string) => void,
): Promise<void> {
  if (body === null) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  const parse = eventParser(keepId);
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    for (const event of parse(chunk.value)) {
      try {
        onEvent(event);
      } catch (error) {
        // A bug in what follows one event must not end the stream for the others.
        reportError(error);
      }
    }
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
