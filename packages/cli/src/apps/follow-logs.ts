// Shows the log of a backend as it grows. A stream that breaks is resumed where it ended, so that no line is lost or
// shown twice when the platform is restarted meanwhile.
import { setTimeout as delay } from 'node:timers/promises';
import { type LogEntry, plainLogLine, RefusalError } from '@platform/contract';
import { paint, say } from '../terminal/terminal.ts';

const RETRY_MILLISECONDS = 500;
const COLOURS = { stdout: undefined, stderr: 'yellow', system: 'dim' } as const;

/** The log from here on. Throws RefusalError while it cannot be read. */
export type LogSource = (
  start: { readonly newest: number } | { readonly after: number },
  signal: AbortSignal,
) => AsyncIterable<LogPiece> | Promise<AsyncIterable<LogPiece>>;

interface LogPiece {
  readonly items: readonly LogEntry[];
  /** Lines that were removed before they could be read. */
  readonly missed: number;
  readonly last: number;
}

export interface FollowOptions {
  /** Lines to begin with. */
  readonly newest: number;
  /** Lines before it are not shown. Default: all are. */
  readonly since?: Date;
  readonly signal: AbortSignal;
}

/** Prints what is logged until the signal aborts. */
export async function followLogs(source: LogSource, { newest, since, signal }: FollowOptions): Promise<void> {
  const earliest = since?.toISOString() ?? '';
  let after: number | undefined;
  let reported = false;
  while (!signal.aborted) {
    try {
      const start = after === undefined ? { newest } : { after };
      for await (const piece of await source(start, signal)) {
        if (piece.missed > 0) say(paint('dim', `  ${piece.missed} lines were replaced before they could be shown.`));
        for (const entry of piece.items) if (entry.at >= earliest) say(lineOf(entry));
        after = piece.last;
        reported = false;
      }
    } catch (error) {
      if (!(error instanceof RefusalError)) throw error;
      // Printed once; the log continues when the platform answers again.
      if (!reported && !signal.aborted) say(paint('dim', `  ${error.refusal.detail ?? error.refusal.code}`));
      reported = true;
    }
    await delay(RETRY_MILLISECONDS, undefined, { signal }).catch(() => undefined);
  }
}

/** One line of a log, with its time of day (UTC). */
export function lineOf({ at, stream, line }: LogEntry): string {
  const colour = COLOURS[stream];
  const text = plainLogLine(line);
  return `  ${paint('dim', at.slice(11, 23))} ${colour === undefined ? text : paint(colour, text)}`;
}
