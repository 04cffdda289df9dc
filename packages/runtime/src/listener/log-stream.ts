// Streams the log of one installation to core: a line of JSON for each piece, as fast as the other side takes them.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { limits } from '@platform/contract';
import type { LogStart, LogStore } from '../logs/log-store.ts';

/** Between empty lines, by which both sides notice that the other one is gone. */
const HEARTBEAT_MILLISECONDS = 15_000;

/** Where a stream is to begin: `?after=<position>` or `?newest=<lines>`; undefined when the query says neither. */
export function logStart(query: string): LogStart | undefined {
  const parameters = new URLSearchParams(query);
  const [after, newest] = [parameters.get('after'), parameters.get('newest')];
  if (after !== null && newest === null && /^\d{1,15}$/.test(after)) return { after: Number(after) };
  if (newest !== null && after === null && /^\d{1,4}$/.test(newest)) {
    return { newest: Math.min(Number(newest), limits.workloadLogLines.value) };
  }
  return undefined;
}

/** Resolves when the stream is over: the reader left, or `ending` was aborted. */
export async function streamLog(
  logs: LogStore,
  { installationId, start }: { readonly installationId: string; readonly start: LogStart },
  res: ServerResponse,
  ending: AbortSignal,
): Promise<void> {
  const over = new AbortController();
  const end = () => over.abort();
  res.once('close', end);
  ending.addEventListener('abort', end);
  if (ending.aborted) end();
  res.writeHead(200, { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' });
  res.flushHeaders();
  const heartbeat = setInterval(() => {
    if (!res.writableNeedDrain) res.write('\n');
  }, HEARTBEAT_MILLISECONDS);
  try {
    for await (const piece of logs.follow(installationId, start, over.signal)) {
      if (over.signal.aborted) break;
      if (!res.write(`${JSON.stringify(piece)}\n`))
        await Promise.race([once(res, 'drain'), once(over.signal, 'abort')]);
    }
  } finally {
    end();
    clearInterval(heartbeat);
    ending.removeEventListener('abort', end);
    res.end();
  }
}
