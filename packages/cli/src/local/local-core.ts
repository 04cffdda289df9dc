// Core's own functions for the operator's commands: the same checks as over HTTP, without a session. Who may open the
// data folder with its database and master key is trusted with everything in it (docs/decisions/cli-publish.md).
import { existsSync } from 'node:fs';
import * as path from 'node:path';
import { errors, faultWords, RefusalError } from '@platform/contract';
import { type PlatformConfig, readMasterKey } from '@platform/core/config';
import { refuseWithoutKey, requireMigrated } from '@platform/core/database';
import { type CoreContext, listAccounts, type NamedAccount, openLocalCore } from '@platform/core/operator';
import { StartError } from '@platform/core/start';
import { joinedAs, WORDS } from '../members/membership.ts';
import { findNodeKey } from '../members/node-identity.ts';
import { withDatabase, withRunningDatabase } from './instance.ts';
import { refuseSuspended, requireAccount } from './named-account.ts';

/** Of the accounts that a message names. */
const NAMED_AT_MOST = 5;

interface LocalCoreUse {
  /** The platform runs; what stops in this moment is not started in its place. */
  readonly besideRunning?: boolean;
}

/**
 * Runs `work` with the context of core on this machine's data folder, beside a running platform or without
 * one.
 *
 * @throws StartError for what the operator can cure; core's refusals among them, in their words
 */
export async function withLocalCore<Result>(
  config: PlatformConfig,
  work: (context: CoreContext) => Promise<Result>,
  { besideRunning = false }: LocalCoreUse = {},
): Promise<Result> {
  const kind = joinedAs(config.dataDirectory);
  if (kind !== null && !existsSync(config.masterKeyFile))
    throw new StartError(
      'not_core',
      `The data folder ${config.dataDirectory} belongs to ${WORDS[kind]}. Run this on the machine of core.`,
    );
  if (!existsSync(config.masterKeyFile)) {
    const hasDatabase = config.databaseUrl !== null || existsSync(path.join(config.dataDirectory, 'postgres', 'data'));
    if (hasDatabase)
      await withDatabase(config, async (url) => {
        await requireMigrated(url);
        await refuseWithoutKey(config.masterKeyFile, url);
      });
    throw new StartError(
      'never_started',
      `There is no platform in ${config.dataDirectory} yet. Start it once and register an account: npm start`,
    );
  }
  const masterKey = readMasterKey(config.masterKeyFile);
  const usingDatabase: typeof withDatabase = besideRunning ? withRunningDatabase : withDatabase;
  return usingDatabase(config, async (databaseUrl) => {
    const nodeKey = findNodeKey(config.dataDirectory)?.publicKey ?? null;
    const { context, close } = await openLocalCore({ config, databaseUrl, masterKey, nodeKey });
    try {
      return await work(context);
    } catch (error) {
      throw error instanceof RefusalError ? inWords(error) : error;
    } finally {
      await close();
    }
  });
}

export function inWords({ refusal }: RefusalError): StartError {
  const { code, detail = errors[code].title, errors: faults = [] } = refusal;
  const isSaid = faults.length === 1 && detail.includes(faults[0]?.message ?? '');
  const lines = isSaid ? [] : faults.map((fault) => `  - ${faultWords(fault)}`);
  return new StartError(code, [`${detail} (${code})`, ...lines].join('\n'));
}

/**
 * The account a command acts for: the one named, or the only one there is.
 *
 * @throws StartError when that is none
 */
export async function chooseAccount(context: CoreContext, named: string | undefined): Promise<NamedAccount> {
  if (named !== undefined) {
    const account = await requireAccount(context, named);
    if (account.suspended) refuseSuspended(account);
    return account;
  }
  const [account, other] = await listAccounts(context, 2);
  if (account === undefined) {
    const where = context.config.origin;
    throw new StartError('no_account', `There is no account yet. Open ${where} and register one, then try again.`);
  }
  if (other !== undefined) {
    const names = (await listAccounts(context, NAMED_AT_MOST + 1)).map(({ name }) => name);
    const some = [...names.slice(0, NAMED_AT_MOST), ...(names.length > NAMED_AT_MOST ? ['…'] : [])].join(', ');
    throw new StartError('which_account', `There are several accounts. Choose one with --as <account>: ${some}`);
  }
  return account;
}
