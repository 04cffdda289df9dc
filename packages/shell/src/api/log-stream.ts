// The live log of an app's backend (`GET /v1/apps/:appId/logs/stream`).
import type { LogEvent } from '@platform/contract';
import { type LastingStreamOptions, openLastingStream } from './lasting-stream.ts';

type Lines = LogEvent['data'];

export interface LogStreamOptions extends Pick<LastingStreamOptions, 'onLive' | 'onRefused'> {
  readonly appId: string;
  /** A stream began anew: what was shown before is replaced by these lines. */
  readonly onFirstLines: (lines: Lines) => void;
  readonly onMoreLines: (lines: Lines) => void;
}

const NEWEST = 200;

/** Opens the stream and keeps it open. @returns a function that closes it for good */
export function openLogStream(options: LogStreamOptions): () => void {
  return openLastingStream({
    ...options,
    path: `/v1/apps/${encodeURIComponent(options.appId)}/logs/stream?newest=${NEWEST}`,
    onEvent({ event, data }) {
      if (event !== 'lines') return;
      const lines = data as Lines;
      // Only the first event of a new stream says where older lines are.
      if (lines.older === undefined) options.onMoreLines(lines);
      else options.onFirstLines(lines);
    },
  });
}
