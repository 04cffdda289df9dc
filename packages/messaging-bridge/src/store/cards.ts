// The accounts of this bridge: a folder for each with a card, which says whose it is and holds the key of its store, sealed
// with the bridge's key.
import { createCipheriv, createDecipheriv, createHash, randomBytes, randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import * as path from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { DamagedStoreError } from './sealed-log.ts';

export interface Card {
  readonly accountId: string;
  readonly userId: string;
  readonly deviceId: string;
  /** Of the store, 32 bytes. */
  readonly key: Buffer;
  /** The homeserver knows the device, and its keys are published. */
  readonly ready: boolean;
  /** A store of this account was lost before. */
  readonly isReplacement: boolean;
  /** Name of its folder. */
  readonly folder: string;
  readonly logFile: string;
}

export interface Cards {
  all(): Iterable<Card>;
  of(accountId: string): Card | undefined;
  ofUser(userId: string): Card | undefined;
  /** Makes the card of an account, with a device and a key of its own; one that was there before is no more. */
  make(about: Pick<Card, 'accountId' | 'userId' | 'isReplacement'>): Promise<Card>;
  markReady(card: Card): Promise<Card>;
  /** Deletes the card of an account with its store, for good. */
  remove(card: Card): Promise<void>;
  /** Whether the store of a card that was ready is there. */
  hasStore(card: Card): boolean;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
type Sealed = Omit<Card, 'folder' | 'logFile'>;

/**
 * Reads all cards.
 *
 * @param folder of the accounts
 * @throws DamagedStoreError for a card that was sealed with another key, or changed
 */
export async function openCards(folder: string, bridgeKey: Buffer): Promise<Cards> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const byAccount = new Map<string, Card>();
  const byUser = new Map<string, Card>();
  const keep = (card: Card): Card => {
    byAccount.set(card.accountId, card);
    byUser.set(card.userId, card);
    return card;
  };
  const cardOf = (name: string, sealed: Sealed): Card => ({
    ...sealed,
    folder: name,
    logFile: path.join(folder, name, 'log'),
  });
  for (const name of await readdir(folder)) {
    const file = path.join(folder, name, 'card');
    // A folder without one was being made.
    const bytes = existsSync(file) ? await readFile(file) : null;
    if (bytes !== null) keep(cardOf(name, deserialize(unseal(file, bridgeKey, name, bytes)) as Sealed));
  }

  async function write(card: Card): Promise<Card> {
    const { folder: name, logFile: _, ...sealed } = card;
    const file = path.join(folder, name, 'card');
    await writeDurably(file, seal(bridgeKey, name, serialize(sealed)));
    return keep(card);
  }

  return {
    all: () => byAccount.values(),
    of: (accountId) => byAccount.get(accountId),
    ofUser: (userId) => byUser.get(userId),
    async make(about) {
      const name = createHash('sha256').update(about.accountId).digest('hex').slice(0, 32);
      await mkdir(path.join(folder, name), { recursive: true, mode: 0o700 });
      const fresh = { ...about, deviceId: newDeviceId(), key: randomBytes(32), ready: false };
      const card = cardOf(name, fresh);
      await rm(card.logFile, { force: true });
      return write(card);
    },
    async remove({ accountId, userId, folder: name }) {
      await rm(path.join(folder, name), { recursive: true, force: true });
      byAccount.delete(accountId);
      byUser.delete(userId);
    },
    markReady: (card) => write({ ...card, ready: true }),
    hasStore: ({ logFile }) => existsSync(logFile),
  };
}

const newDeviceId = () => Array.from({ length: 10 }, () => LETTERS[randomInt(LETTERS.length)]).join('');

function seal(key: Buffer, name: string, bytes: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(name));
  return Buffer.concat([nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
}

function unseal(file: string, key: Buffer, name: string, bytes: Buffer): Buffer {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(Buffer.from(name)).setAuthTag(bytes.subarray(bytes.length - TAG_BYTES));
    const opened = decipher.update(bytes.subarray(NONCE_BYTES, bytes.length - TAG_BYTES));
    return Buffer.concat([opened, decipher.final()]);
  } catch (cause) {
    throw new DamagedStoreError(`${file} was sealed with another key than bridge.key, or was changed.`, { cause });
  }
}

/** The file is there as a whole or as it was. */
export async function writeDurably(file: string, bytes: Buffer): Promise<void> {
  const fresh = `${file}.new`;
  const handle = await open(fresh, 'w', 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(fresh, file);
  const folder = await open(path.dirname(file), 'r');
  await folder.sync().finally(() => folder.close());
}
