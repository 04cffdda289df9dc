// A live stream of events (text/event-stream) over fetch, because EventSource cannot send an Authorization header.
// It reconnects with growing pauses and requests missed events with Last-Event-ID.
import type { ShellEvent } from '@platform/contract';
import { eventParser } from '@platform/contract/event-text';
import type { ServiceAccess } from './call-options.ts';
import { connecting } from './localhost.ts';
import { errorFromResponse, PlatformError } from './platform-error.ts';
import { callError, withCredential } from './service-call.ts';
import type { StreamOptions } from './services.ts';

export type StreamEvent = ShellEvent & { readonly id: string | undefined };

const FIRST_PAUSE_MILLISECONDS = 500;
const LONGEST_PAUSE_MILLISECONDS = 30_000;

/**
 * Events of a live stream until `signal` is aborted. It connects again after each break, from the last event that arrived,
 * with pauses of 0.5 to 30 s.
 *
 * @throws PlatformError for a refusal that another try does not change
 */
export async function* eventStream(
  access: ServiceAccess,
  path: string,
  { signal, lastEventId }: StreamOptions,
): AsyncGenerator<StreamEvent, void, undefined> {
  let last = lastEventId;
  let failures = 0;
  while (!isAborted(signal)) {
    try {
      const keepId = (id: string): void => {
        last = id;
      };
      for await (const event of connection(access, path, { last, keepId, signal })) {
        failures = 0;
        yield event;
      }
    } catch (error) {
      if (isAborted(signal)) return;
      const known = callError(error);
      // Only temporary failures are retried; a refusal would be repeated.
      if (known.status >= 400 && known.status < 500 && known.status !== 429) throw known;
      const wait = known.retryAfter === undefined ? pause(failures) : known.retryAfter * 1000;
      failures += 1;
      await sleep(wait, signal);
      continue;
    }
    failures += 1;
    await sleep(pause(failures - 1), signal);
  }
}

/** A function, because the compiler assumes that the state does not change between two reads. */
function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

function pause(failures: number): number {
  const longest = Math.min(FIRST_PAUSE_MILLISECONDS * 2 ** failures, LONGEST_PAUSE_MILLISECONDS);
  // Spread, so that many frames do not come back in the same moment after a restart.
  return longest * (0.5 + Math.random() / 2);
}

function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal?.addEventListener('abort', done);
  });
}

interface Position {
  readonly last: string | undefined;
  /** Called with every id, also one without data, which marks where the stream begins. */
  readonly keepId: (id: string) => void;
  readonly signal: AbortSignal | undefined;
}

async function* connection(
  access: ServiceAccess,
  path: string,
  { last, keepId, signal }: Position,
): AsyncGenerator<StreamEvent> {
  const init: RequestInit = { credentials: 'omit', redirect: 'error', cache: 'no-store', signal: signal ?? null };
  const response = await withCredential(access, signal, async (authorization) => {
    const headers: Record<string, string> = { accept: 'text/event-stream', authorization };
    if (last !== undefined) headers['last-event-id'] = last;
    const answer = await fetch(access.api + path, { ...connecting(access.api), ...init, headers });
    if (!answer.ok) throw await errorFromResponse(answer);
    return answer;
  });
  if (response.body === null) throw new PlatformError({ code: 'invalid_answer', detail: 'The stream has no body.' });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const parse = eventParser(keepId);
  try {
    // Core proves its events against their schema; here they are trusted to have the shape it names.
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read())
      yield* parse(chunk.value) as StreamEvent[];
  } finally {
    // The consumer may leave the loop early; then the connection must not stay open.
    await reader.cancel().catch(() => {});
  }
}
