// The access log: one line of JSON for each request, without its query, which may hold secrets. A reader that is too slow
// loses lines and delays no request.
import { createWriteStream } from 'node:fs';
import type { Writable } from 'node:stream';

export interface AccessEntry {
  /** When it began. */
  readonly time: Date;
  /** As sent; empty where the request named none that is valid. */
  readonly host: string;
  readonly method: string;
  /** As sent, without query. */
  readonly path: string;
  /** `null` when the client left before there was one. */
  readonly status: number | null;
  /** Of the answer's body, as sent. */
  readonly bytes: number;
  readonly milliseconds: number;
  readonly client: string;
  readonly requestId: string;
  /** Error code of what this Ingress refused itself. */
  readonly refused?: string | undefined;
}

export interface AccessLog {
  write(entry: AccessEntry): void;
  close(): Promise<void>;
}

/** `off`, `stdout`, a file that is appended to, or a stream that its owner ends. */
export type AccessLogPlace = 'off' | 'stdout' | { readonly file: string } | { readonly stream: Writable };

/** Bytes that may wait for the reader. */
const MOST_WAITING = 4 * 1024 * 1024;

export function openAccessLog(place: AccessLogPlace, dropped: () => void, failed: (error: Error) => void): AccessLog {
  if (place === 'off') return { write: () => undefined, close: async () => undefined };
  const own = place !== 'stdout' && 'file' in place;
  const stream = own ? createWriteStream(place.file, { flags: 'a', mode: 0o640 }) : streamOf(place);
  const onError = (error: Error): void => failed(error);
  stream.on('error', onError);
  return {
    write(entry) {
      if (!stream.writable || stream.writableLength > MOST_WAITING) dropped();
      else stream.write(lineOf(entry));
    },
    async close() {
      if (own) await new Promise<void>((resolve) => stream.end(() => resolve()));
      stream.off('error', onError);
    },
  };
}

function streamOf(place: 'stdout' | { readonly stream: Writable }): Writable {
  return place === 'stdout' ? process.stdout : place.stream;
}

function lineOf({ time, milliseconds, ...entry }: AccessEntry): string {
  const { host, method, path, status, bytes, client, requestId, refused } = entry;
  const line = { time: time.toISOString(), host, method, path, status, bytes };
  return `${JSON.stringify({ ...line, milliseconds: Math.round(milliseconds * 10) / 10, client, requestId, refused })}\n`;
}
