// Reports when a folder changed, once for each burst of changes: an editor that saves touches several files.
import { watch } from 'node:fs';
import * as path from 'node:path';

const QUIET_MILLISECONDS = 150;

/**
 * Yields once at the beginning and then after every burst of changes below `folder`, until the signal aborts. Changes
 * that happen while the consumer works are yielded when it asks again. Hidden files do not count.
 */
export async function* changesOf(folder: string, signal: AbortSignal): AsyncGenerator<void, void, undefined> {
  let changed = true;
  let wake = () => {};
  let timer: NodeJS.Timeout | undefined;
  const burstOver = () => {
    changed = true;
    wake();
  };
  const watcher = watch(folder, { recursive: true }, (_event, name) => {
    if (name?.split(path.sep).some((part) => part.startsWith('.'))) return;
    clearTimeout(timer);
    timer = setTimeout(burstOver, QUIET_MILLISECONDS);
  });
  let failure: Error | undefined;
  watcher.on('error', (error) => {
    failure = error;
    wake();
  });
  const abort = () => wake();
  signal.addEventListener('abort', abort);
  try {
    while (!signal.aborted) {
      if (failure !== undefined) throw failure;
      if (changed) {
        changed = false;
        yield;
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    signal.removeEventListener('abort', abort);
    clearTimeout(timer);
    watcher.close();
  }
}
