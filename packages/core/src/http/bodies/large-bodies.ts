// Takes bodies that are too large to be held: each goes to the disk as it arrives, is checked there item by item in a
// thread, and its items are read back in pieces. How many there are at a time is bounded for each caller and in sum.

import { open, readdir, rm, stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import * as path from 'node:path';
import { limits, type RouteId, refuse } from '@platform/contract';
import { receiveBody } from '@platform/http';
import { Turns } from '../../background/turns.ts';
import { hasNoRoom, openScratch, type Scratch } from '../../blobs/scratch.ts';
import type { ProvenTime } from '../../clock/clock-guard.ts';
import { linesOf, type StreamedItems } from '../streamed-items.ts';
import type { BodyPool } from './body-pool.ts';

/** How long one waits for a place: a short time, since each waiter holds a connection. */
const PATIENCE_MILLISECONDS = 2_000;
const WAITING = 2;
/** Older folders belong to a process that was killed. */
const ABANDONED_MILLISECONDS = 3_600_000;

/** Folders of scratch in here are removed by the sweep below once whoever made them was killed. */
export function incomingBodies(directory: string): string {
  return path.join(directory, 'incoming-bodies');
}

interface LargeBody {
  readonly caller: string;
  readonly account: string;
  readonly limit: number;
  readonly left: AbortSignal;
  readonly arriving: (read: () => Promise<void>) => Promise<void>;
}

export class LargeBodies {
  readonly #folder: string;
  readonly #pool: Pick<BodyPool, 'items'>;
  readonly #turns = new Turns({
    ofKey: limits.searchBodiesPerInstallation.value,
    inAll: limits.searchBodies.value,
    waiting: WAITING,
    milliseconds: PATIENCE_MILLISECONDS,
    detail: 'Other large bodies are being read. Wait for one to finish, then send this again.',
  });

  /** So that no account has the places of all, however many apps it sends from. */
  readonly #ofAccounts = new Turns({
    ofKey: limits.searchBodiesPerAccount.value,
    waiting: WAITING * limits.searchBodiesPerAccount.value,
    milliseconds: PATIENCE_MILLISECONDS,
    detail: 'Other large bodies of this account are being read. Wait for one to finish, then send this again.',
  });

  /** @param directory on a disk with room; other replicas may use it too */
  constructor(directory: string, pool: Pick<BodyPool, 'items'>) {
    this.#folder = incomingBodies(directory);
    this.#pool = pool;
  }

  /** Removes what processes left that were killed. */
  async sweep(proven: ProvenTime): Promise<void> {
    for (const name of await readdir(this.#folder).catch(() => [])) {
      const file = path.join(this.#folder, name);
      const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
      if (proven.getTime() - mtimeMs > ABANDONED_MILLISECONDS) await rm(file, { recursive: true, force: true });
    }
  }

  /**
   * Waits for a place of the caller, then reads the body.
   *
   * @param caller whose places these are, and `account` whose they are together with its others
   * @param limit bytes of the body
   * @param left fires when the caller leaves: it takes no place any more, and its body is not checked
   * @param arriving runs what takes the body in, as long as it arrives
   * @throws RefusalError `concurrency_limited`, `payload_too_large`, `unavailable` without room on the disk, or
   *   `invalid_request`
   */
  async receive(
    request: IncomingMessage,
    route: RouteId,
    { caller, account, limit, left, arriving }: LargeBody,
  ): Promise<StreamedItems<unknown>> {
    const endOfAccount = await this.#ofAccounts.take(account, left);
    const end = await this.#turns.take(caller, left).catch((error: unknown) => {
      endOfAccount();
      throw error;
    });
    let scratch: Scratch | undefined;
    const close = async (): Promise<void> => {
      await scratch?.close();
      end();
      endOfAccount();
    };
    try {
      scratch = await openScratch(this.#folder);
      const { folder } = scratch;
      const [body, items] = [path.join(folder, 'body.json'), path.join(folder, 'items')];
      await arriving(() => store(request, body, limit));
      const keys = await this.#pool.items(route, body, items, left);
      await rm(body);
      return { keys, items: () => linesOf(items), close };
    } catch (error) {
      await close();
      throw isFull(error) ? refuse('unavailable', 'There is no room for the body on this machine.') : error;
    }
  }
}

async function store(request: IncomingMessage, file: string, limit: number): Promise<void> {
  const handle = await open(file, 'wx', 0o600);
  try {
    let stored: Promise<void> = Promise.resolve();
    const received = receiveBody(request, { limit, milliseconds: limits.bodySeconds.value * 1_000 }, (chunk) => {
      stored = handle.writeFile(chunk);
      return stored;
    });
    // The file is closed only when nothing is written to it any more.
    const [arrival] = await Promise.allSettled([received]);
    const [storing] = await Promise.allSettled([stored]);
    for (const step of [arrival, storing]) if (step.status === 'rejected') throw step.reason;
  } finally {
    await handle.close();
  }
}

/** Of this thread, or of the one that checks, of whose errors only the message is known. */
function isFull(error: unknown): boolean {
  return hasNoRoom(error) || (error instanceof Error && /^(?:ENOSPC|EDQUOT):/.test(error.message));
}
