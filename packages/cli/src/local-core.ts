// Core's own functions for the operator's commands: the same checks as over HTTP, without a session. Who may open the
// data folder with its database and master key is trusted with everything in it (docs/decisions/cli-publish.md).
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import * as path from 'node:path';
import { RefusalError } from '@platform/contract';
import { findAccount, listAccounts, type NamedAccount } from '@platform/core/accounts/account-queries.ts';
import { type PlatformConfig, readMasterKey } from '@platform/core/config/env.ts';
import { StartError } from '@platform/core/config/start-error.ts';
import type { CoreContext } from '@platform/core/context.ts';
import { migrate } from '@platform/core/database/migrate.ts';
import { openDatabase } from '@platform/core/database/open-database.ts';
import { Signals } from '@platform/core/database/signals.ts';
import { followChanges } from '@platform/core/domains.ts';
import { cursorCodec } from '@platform/core/http/cursor.ts';
import { Lifecycle } from '@platform/core/lifecycle.ts';
import { createLog } from '@platform/core/log.ts';
import { findNodeByKey } from '@platform/core/nodes/node-queries.ts';
import { Nodes } from '@platform/core/nodes/nodes.ts';
import { nothingListens } from '@platform/core/points.ts';
import { withDatabase } from './instance.ts';
import { openNodeIdentity } from './node-identity.ts';

/**
 * Runs `work` with the context of core on this machine's data folder, and its way to all nodes, beside a running
 * platform or without one.
 *
 * @throws StartError for what the operator can cure; core's refusals among them, in their words
 */
export function withLocalCore<Result>(
  config: PlatformConfig,
  work: (context: CoreContext, nodes: Nodes) => Promise<Result>,
): Promise<Result> {
  if (!existsSync(config.masterKeyFile)) {
    throw new StartError(
      'never_started',
      `There is no platform in ${config.dataDirectory} yet. Start it once and register an account: npm start`,
    );
  }
  const masterKey = readMasterKey(config.masterKeyFile);
  return withDatabase(config, async (url) => {
    await migrate(url);
    const { pool, database, close } = openDatabase({ url, connections: 2, onError: () => undefined });
    const stopping = new AbortController();
    try {
      const context: CoreContext = {
        config: { ...config, packagesDirectory: path.join(config.dataDirectory, 'packages'), shellDirectory: '' },
        database,
        pool,
        // Never started: this process only tells the others, through the database.
        signals: new Signals(url, () => undefined),
        clock: () => new Date(),
        random: randomBytes,
        masterKey,
        cursors: cursorCodec(masterKey),
        log: createLog('fatal'),
        lifecycle: new Lifecycle(),
        count: () => undefined,
        at: nothingListens,
        stopping: stopping.signal,
      };
      const nodes = new Nodes(context, await localNodeId(context, config));
      followChanges(context, nodes);
      return await work(context, nodes);
    } catch (error) {
      throw error instanceof RefusalError ? inWords(error) : error;
    } finally {
      stopping.abort();
      await close();
    }
  });
}

/** The node of this machine, if it is one. */
async function localNodeId({ database }: CoreContext, { dataDirectory }: PlatformConfig): Promise<string | null> {
  const { key } = openNodeIdentity(dataDirectory);
  return (await findNodeByKey(database, key.publicKey)) ?? null;
}

export function inWords({ refusal, message }: RefusalError): StartError {
  const lines = (refusal.errors ?? []).map(({ path: member, message: fault }) => `${member}: ${fault}`);
  return new StartError(refusal.code, [`${refusal.detail ?? message} (${refusal.code})`, ...lines].join(' '));
}

/**
 * The account a command acts for: the one named, or the only one there is.
 *
 * @throws StartError when that is none
 */
export async function chooseAccount(context: CoreContext, named: string | undefined): Promise<NamedAccount> {
  if (named !== undefined) {
    const account = await findAccount(context, named.toLowerCase());
    if (account === undefined) throw new StartError('no_account', `There is no account named ${named}.`);
    return account;
  }
  const [account, other] = await listAccounts(context, 2);
  if (account === undefined) {
    const where = context.config.origin;
    throw new StartError('no_account', `There is no account yet. Open ${where} and register one, then try again.`);
  }
  if (other !== undefined) {
    throw new StartError('which_account', 'There are several accounts. Name the one to act for with --as <account>.');
  }
  return account;
}
