// The key by which push services know this platform (VAPID, RFC 8292): made at the first start, kept in the database
// under the master key, the same for all replicas. Subscriptions are bound to it, so it is never made anew.
import webPush from 'web-push';
import { StartError } from '../config/start-error.ts';
import type { CoreContext } from '../context.ts';
import { seal, unseal } from '../credentials/master-key.ts';
import { findVapidKey, insertVapidKey } from './queries.ts';

const PURPOSE = 'push-vapid';

export interface VapidKeys {
  /** Uncompressed point of P-256, base64url: the `applicationServerKey` of browsers. */
  readonly publicKey: string;
  /** Scalar, base64url. */
  readonly privateKey: string;
}

/** @throws StartError `wrong_master_key` when the stored key was sealed with another master key */
export async function openVapidKeys({
  database,
  masterKey,
  random,
  clock,
}: Pick<CoreContext, 'database' | 'masterKey' | 'random' | 'clock'>): Promise<VapidKeys> {
  let stored = await findVapidKey(database);
  if (stored === undefined) {
    const made = webPush.generateVAPIDKeys();
    const sealed = seal(masterKey, PURPOSE, made.publicKey, Buffer.from(made.privateKey, 'base64url'), random);
    // Of replicas that start together one key is kept, and all use that.
    await insertVapidKey(database, { publicKey: made.publicKey, sealed, now: clock() });
    stored = await findVapidKey(database);
  }
  if (stored === undefined) throw new Error('the VAPID key was neither found nor kept');
  const { public_key: publicKey, sealed_private_key: sealed } = stored;
  try {
    return { publicKey, privateKey: unseal(masterKey, PURPOSE, publicKey, sealed).toString('base64url') };
  } catch (cause) {
    throw new StartError(
      'wrong_master_key',
      'PLATFORM_MASTER_KEY_FILE does not hold the master key of this database; restore the key from the backup that was made with the database.',
      { cause },
    );
  }
}

/** Whether the master key opens the key of this platform; true while there is none. */
export async function opensPushKey({
  database,
  masterKey,
}: Pick<CoreContext, 'database' | 'masterKey'>): Promise<boolean> {
  const stored = await findVapidKey(database);
  if (stored === undefined) return true;
  try {
    unseal(masterKey, PURPOSE, stored.public_key, stored.sealed_private_key);
    return true;
  } catch {
    return false;
  }
}
