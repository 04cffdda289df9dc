// Which bridge works for the homeserver, and from which store. The lock of the store does not reach a copy of it on another
// machine, and nothing in a copy says that it is an old one. So the store and the homeserver both count the minutes in which a
// bridge worked: a store that has counted fewer than the homeserver is not the one that was last used.
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import * as path from 'node:path';
import * as z from 'zod';
import { type As, type Homeserver, MatrixError } from './matrix/homeserver.ts';
import { anything } from './matrix/shapes.ts';
import { writeDurably } from './store/cards.ts';

export interface Claim {
  /** For the first time. @returns why this store cannot be used, in words; `null` where it can */
  take(): Promise<string | null>;
  /** Counts on. @returns why this bridge has to stop, in words; `null` where it has not */
  renew(): Promise<string | null>;
}

export interface ClaimOptions {
  /** Of the store. */
  readonly folder: string;
  readonly homeserver: Homeserver;
  /** The user of the application service itself, at which the homeserver keeps it. */
  readonly userId: string;
  /** Whether the store holds anybody's keys; one that is empty cannot be old. */
  readonly hasAccounts: () => boolean;
}

const TYPE = 'org.platform.messaging_bridge';
const mark = z.object({ bridge: z.string(), count: z.int().min(0) }).catch({ bridge: '', count: 0 });

const OLD_STORE =
  'The store is an old copy: a bridge has worked with a newer one since. Use that one, or move “accounts” away, for new devices.';
const TAKEN_OVER =
  'Another messaging bridge works for this homeserver now, so this one has stopped. Run one of them alone.';

export function openClaim({ folder, homeserver, userId, hasAccounts }: ClaimOptions): Claim {
  const bridge = randomBytes(16).toString('hex');
  const file = path.join(folder, 'count');
  const as: As = { userId };
  const place = ['_matrix', 'client', 'v3', 'user', userId, 'account_data', TYPE];

  const kept = async (): Promise<number> =>
    existsSync(file) ? Number.parseInt(await readFile(file, 'utf8'), 10) || 0 : 0;

  const atHomeserver = () =>
    homeserver.request(as, { method: 'GET', path: place, answer: mark }).catch((error: unknown) => {
      if (error instanceof MatrixError && error.code === 'M_NOT_FOUND') return { bridge: '', count: 0 };
      throw error;
    });

  /** First in the store: what is behind after a crash is the homeserver. */
  async function count(number: number): Promise<void> {
    await writeDurably(file, Buffer.from(`${number}\n`));
    await homeserver.request(as, { method: 'PUT', path: place, body: { bridge, count: number }, answer: anything });
  }

  return {
    async take() {
      const [own, theirs] = [await kept(), await atHomeserver()];
      if (theirs.count > own && hasAccounts()) return OLD_STORE;
      await count(Math.max(own, theirs.count) + 1);
      return null;
    },
    async renew() {
      const theirs = await atHomeserver();
      // Nobody's where the homeserver has lost it.
      if (theirs.bridge !== bridge && theirs.bridge !== '') return TAKEN_OVER;
      await count(Math.max(await kept(), theirs.count) + 1);
      return null;
    },
  };
}
