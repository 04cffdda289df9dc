// Sends the volume of an installation to core, which adds it to the download of its account. Its workload is stopped first
// and starts afterwards; both end with the connection.
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { plainLine, refuse } from '@platform/contract';
import { entryFrame } from '@platform/contract/volume-stream';
import type { Log } from '../clock.ts';
import { LaunchError, StartRefused } from '../drivers/driver.ts';
import type { Resting } from '../lifecycle/resting.ts';
import type { Fleet } from '../reconcile.ts';
import type { SharedVolumes } from '../shared-volumes.ts';
import { folderFrames, imageFrames } from '../volumes/volume-frames.ts';
import type { HeldVolume, Volumes } from '../volumes/volumes.ts';

export interface VolumeCopies {
  readonly fleet: Pick<Fleet, 'find' | 'remove'>;
  readonly resting: Resting;
  readonly volumes: Pick<Volumes, 'hold' | 'use'>;
  readonly sharedVolumes: Pick<SharedVolumes, 'hold'> | undefined;
  readonly log: Log;
}

/** Answers 204 where there is none. @throws RefusalError `workload_unavailable` with why it cannot be read */
export async function sendVolume(
  parts: VolumeCopies,
  installationId: string,
  res: ServerResponse,
  ending: AbortSignal,
): Promise<void> {
  const { fleet, resting, log } = parts;
  const over = new AbortController();
  const end = () => over.abort();
  res.once('close', end);
  ending.addEventListener('abort', end);
  const rested = resting.begin(installationId);
  try {
    // One that was removed may still be stopping.
    await (fleet.find(installationId)?.rest() ?? fleet.remove(installationId));
    const held = await hold(parts, installationId, over.signal);
    if (held === undefined) {
      res.writeHead(204).end();
      return;
    }
    try {
      over.signal.throwIfAborted();
      res.writeHead(200, { 'content-type': 'application/octet-stream', 'cache-control': 'no-store' });
      await pipeline(Readable.from(framesOf(held), { objectMode: true, highWaterMark: 1 }), res, {
        signal: over.signal,
      });
    } catch (error) {
      log.warn({ installationId, err: error }, 'a volume could not be copied to its end');
      res.destroy();
    } finally {
      await held.release();
    }
  } finally {
    res.off('close', end);
    ending.removeEventListener('abort', end);
    if (rested()) fleet.find(installationId)?.rested();
  }
}

async function hold(
  { volumes, sharedVolumes, log }: VolumeCopies,
  installationId: string,
  abort: AbortSignal,
): Promise<HeldVolume | undefined> {
  try {
    const held = await volumes.hold(installationId);
    if (held !== undefined) return held;
    const shared = await sharedVolumes?.hold(installationId, abort);
    return shared === undefined ? undefined : { ...shared, images: [] };
  } catch (error) {
    if (error instanceof StartRefused || error instanceof LaunchError)
      throw refuse('workload_unavailable', error.message);
    log.warn({ installationId, err: error }, 'a volume could not be opened for a copy');
    throw refuse('workload_unavailable', 'Its volume cannot be opened now.');
  }
}

async function* framesOf({ folder, images: [image, ...more] }: HeldVolume): AsyncGenerator<Buffer> {
  const others = folder === undefined ? more : [image, ...more];
  for (const other of others)
    if (other !== undefined)
      yield entryFrame({ type: 'left out', path: plainLine(nameOf(other)), why: 'its other volume is the newer one' });
  if (folder !== undefined) yield* folderFrames(folder);
  else if (image !== undefined) yield* imageFrames(image, 'volume.ext4');
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
