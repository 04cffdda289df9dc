// Whether database and data folder are those of one platform, and whether the account that looks after it is still there.
import { StartError } from '../config/start-error.ts';
import type { Executor } from '../database/schema.ts';
import { readMarker, writeMarker } from './folder-marker.ts';
import { keepIdentity, selectIdentity } from './identity-queries.ts';
import { folderList, rememberFolder } from './mounted-folders.ts';

export interface IdentityOptions {
  /** The data folder, absolute. */
  readonly folder: string;
  /** The operator says that this is a first start, whatever is left in the folder. */
  readonly isNew: boolean;
  /** Of folders on disks of their own. Default: that of this user. */
  readonly list?: string;
}

export interface Identity {
  /**
   * Notes the master account in the folder once it is there, so that no other gets its name in another database.
   *
   * @returns whether there is nothing left to note until another one is named
   */
  noteMaster(): Promise<boolean>;
}

interface Accounts {
  /** Name of the master account; `null` for none. */
  master(): Promise<string | null>;
  keyOf(name: string): Promise<string | undefined>;
  isAccount(key: string): Promise<boolean>;
  isAny(): Promise<boolean>;
}

/**
 * @throws StartError `database_other` when the folder belongs to another database, or the database is a new one;
 *   `master_account_missing` when the account that looked after the platform is not in it
 */
export async function openIdentity(
  database: Executor,
  { folder, isNew, list = folderList() }: IdentityOptions,
  accounts: Accounts,
): Promise<Identity> {
  const name = await accounts.master();
  const left = isNew ? null : readMarker(folder);
  let known = await selectIdentity(database);
  // A backup of a version whose databases had no id.
  if (left !== null && known === undefined && (await accounts.isAny()))
    known = await keepIdentity(database, left.platform);
  if (left !== null && left.platform !== known) throw other(folder, known);
  if (left?.masterAccount != null && name !== null && !(await accounts.isAccount(left.masterAccount)))
    throw new StartError(
      'master_account_missing',
      `The account that looked after this platform is not in its database, so the next person who registers as ${name} would look after it. The database is an older one: restore a newer backup. To let that account be registered anew, start once with: ./platform start --new`,
    );
  let marker = left ?? { platform: known ?? (await keepIdentity(database)), masterAccount: null };
  if (left === null) writeMarker(folder, marker);
  rememberFolder(list, folder, marker.platform);
  const identity: Identity = {
    async noteMaster() {
      const master = await accounts.master();
      if (master === null) return true;
      const key = await accounts.keyOf(master);
      if (key === undefined) return false;
      if (key !== marker.masterAccount) {
        marker = { ...marker, masterAccount: key };
        writeMarker(folder, marker);
      }
      return true;
    },
  };
  await identity.noteMaster();
  return identity;
}

function other(folder: string, known: string | undefined): StartError {
  const found = known === undefined ? 'a new one' : 'that of another platform';
  return new StartError(
    'database_other',
    `The data folder ${folder} belongs to a platform, and the database is ${found}. Set PLATFORM_DATABASE_URL or PLATFORM_DATA_DIR to what belongs together, or restore both from one backup. To use this database with what is left in the folder: ./platform start --new`,
  );
}
