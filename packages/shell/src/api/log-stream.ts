// The live log of an app's backend (`GET /v1/apps/:appId/logs/stream`).
import type { LogEvent } from '@platform/contract';
import { type LastingStreamOptions, openLastingStream } from './lasting-stream.ts';

type Lines = LogEvent['data'];

export interface LogStreamOptions extends Pick<LastingStreamOptions, 'onLive' | 'onRefused'> {
  readonly appId: string;
  /** A stream began anew: what was shown before is replaced by these lines. */
  readonly onBegin: (lines: Lines) => void;
  readonly onMore: (lines: Lines) => void;
}

const NEWEST = 200;

/** Opens the stream and keeps it open. @returns a function that closes it for good */
export function openLogStream(options: LogStreamOptions): () => void {
  return openLastingStream({
    ...options,
    path: `/v1/apps/${encodeURIComponent(options.appId)}/logs/stream?newest=${NEWEST}`,
    onStream(stream) {
      stream.addEventListener('lines', (event) => {
        const lines = JSON.parse(event.data) as Lines;
        // Only the first event of a new stream says where older lines are.
        if (lines.older === undefined) options.onMore(lines);
        else options.onBegin(lines);
      });
    },
  });
}
