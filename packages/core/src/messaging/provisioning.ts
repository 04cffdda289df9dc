// Who the account is to others, and that the server name in all addresses stays what it was (specification 4.8).
import { refuse } from '@platform/contract';
import { StartError } from '../config/start-error.ts';
import type { CoreContext } from '../context.ts';
import { isNoMore } from '../database/missing-reference.ts';
import {
  findByKey,
  findParty,
  insertAccount,
  keepServerName,
  markBridged,
  selectServerName,
} from './account-queries.ts';

type Context = Pick<CoreContext, 'database' | 'clock' | 'config'>;

/** @throws StartError for another server name than addresses have */
export async function requireServerName({ database, config }: Context): Promise<void> {
  const kept = await selectServerName(database);
  const { serverName } = config.messaging;
  if (kept !== undefined && kept !== serverName)
    throw new StartError(
      'server_name_changed',
      `PLATFORM_MESSAGING_SERVER_NAME is ${serverName}, and the addresses of accounts end in ${kept} since the first of them was ` +
        `given. Set PLATFORM_MESSAGING_SERVER_NAME to ${kept}.`,
    );
}

interface Party {
  readonly name: string;
  /** The bridge was asked about it, and may know it. */
  readonly bridged: boolean;
}

/**
 * Has the account take part in messaging; once it does, this changes nothing.
 *
 * @throws RefusalError `not_found` for an account that was deleted
 */
export async function provision({ database, clock, config }: Context, accountKey: string): Promise<Party> {
  const account = await findByKey(database, accountKey);
  if (account === undefined) throw refuse('not_found');
  const { name } = account;
  const party = await findParty(database, accountKey);
  if (party !== undefined) return { name, ...party };
  const now = clock();
  const { serverName } = config.messaging;
  if ((await keepServerName(database, serverName, now)) !== serverName)
    throw refuse('unavailable', 'Another core gave the first address under another server name. Restart this one.');
  try {
    await insertAccount(database, accountKey, now);
  } catch (error) {
    // Deleted since it was found.
    throw isNoMore(error) ? refuse('not_found') : error;
  }
  return { name, bridged: false };
}

/**
 * The same for an account that the bridge is about to be asked about. That is kept first: the bridge makes it known at the
 * homeserver, where it has to end when the account is deleted.
 *
 * @returns its name
 */
export async function provisionBridged(context: Context, accountKey: string): Promise<string> {
  const { name, bridged } = await provision(context, accountKey);
  if (!bridged) await markBridged(context.database, accountKey);
  return name;
}
