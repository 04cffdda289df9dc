// Reads from an answer, as it passes, what the call used: what the provider reports, or an estimate where it reports
// nothing that can be believed or the answer did not arrive whole.
import type { IncomingHttpHeaders } from 'node:http';
import type { ExchangeEnd, Tap } from '@platform/http';
import type { Room } from '../room.ts';
import type { Dialect, StreamReader, Usage } from './dialect.ts';
import type { Endpoint } from './endpoints.ts';
import { eventData, parsed } from './server-sent-events.ts';

export interface Used extends Usage {
  /** The call reached the provider. */
  readonly reached: boolean;
}

interface TapOptions {
  readonly dialect: Dialect;
  readonly endpoint: Endpoint;
  readonly estimatedInput: number;
  /** What is reserved for the output: an estimate is never more. */
  readonly reservedOutput: number;
  /** For a whole answer, which is kept until its end. */
  readonly room: Room;
  /** Called once. */
  readonly onEnd: (used: Used) => void;
}

/** Whole answers beyond this are not read. */
const LONGEST_ANSWER = 16 * 1024 * 1024;
/** As core estimates the input. */
const BYTES_PER_TOKEN = 3;

export function usageTap({ dialect, endpoint, estimatedInput, reservedOutput, room, onEnd }: TapOptions): Tap {
  let reached = false;
  let status = 0;
  let stream: StreamReader | null = null;
  let take: ((bytes: Buffer) => void) | null = null;
  let whole: Buffer[] | null = null;
  /** Of an answer, or of events, that cannot be read: all of it counts as text, so that nobody gains by that. */
  let length = 0;

  function collect(bytes: Buffer): void {
    length += bytes.length;
    if (whole !== null && length <= LONGEST_ANSWER && room.take(bytes.length)) whole.push(bytes);
    else whole = null;
  }

  function count(bytes: Buffer): void {
    length += bytes.length;
  }

  function used(how: ExchangeEnd): Usage {
    const answer =
      whole === null || how !== 'complete' ? undefined : parsed(Buffer.concat(whole).toString('utf8').trim());
    const reported =
      how === 'abandoned' ? null : (stream?.usage() ?? (answer === undefined ? null : dialect.usageOf(answer)));
    if (reported !== null) return reported;
    const costsNothing = !reached || endpoint.free || status >= 300;
    if (costsNothing) return { inputTokens: 0, outputTokens: 0 };
    const text = answer === undefined ? length : dialect.textBytesOf(answer);
    const bytes = stream === null ? text : stream.textBytes() + length;
    const outputTokens = Math.min(Math.ceil(bytes / BYTES_PER_TOKEN), reservedOutput);
    return { inputTokens: estimatedInput, outputTokens };
  }

  return {
    sent() {
      reached = true;
    },
    head(answered, headers) {
      status = answered;
      const type = headers['content-type'] ?? '';
      if (!isReadable(headers)) {
        if (isText(type)) take = count;
        return;
      }
      if (/^text\/event-stream\b/i.test(type)) {
        const reader = dialect.openStream();
        stream = reader;
        take = eventData((data) => {
          const event = parsed(data);
          if (event !== undefined) reader.event(event);
        }, count);
      } else if (/^application\/(?:[\w.+-]+\+)?json\b/i.test(type)) {
        whole = [];
        take = collect;
      } else if (isText(type)) take = count;
    },
    chunk: (bytes) => take?.(bytes),
    end(how) {
      onEnd({ ...used(how), reached });
    },
  };
}

/** What a model may have written, rather than sounds and pictures. */
function isText(type: string): boolean {
  return /^text\/|json/i.test(type);
}

/** Nothing was asked for but the bytes themselves. */
function isReadable(headers: IncomingHttpHeaders): boolean {
  const coding = headers['content-encoding'];
  return coding === undefined || coding.toLowerCase() === 'identity';
}
