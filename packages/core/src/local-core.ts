// Core in the process of an operator's command: its functions on the database itself, beside a running platform or
// without one, with neither a server nor background work.
import { randomBytes } from 'node:crypto';
import * as path from 'node:path';
import { timeOf } from './clock/time-of.ts';
import type { PlatformConfig } from './config/env.ts';
import { IntelligenceFile } from './config/intelligence-file.ts';
import type { CoreContext } from './context.ts';
import { requireMasterKey } from './credentials/master-key-check.ts';
import { requireMigrated } from './database/migrate.ts';
import { openDatabase } from './database/open-database.ts';
import { Signals } from './database/signals.ts';
import { followChanges } from './domains.ts';
import { cursorCodec } from './http/cursor.ts';
import { Lifecycle } from './lifecycle.ts';
import { createLog } from './log.ts';
import { findNodeByKey, opensControlCredentials } from './nodes/face.ts';
import { openContext } from './open-context.ts';
import { nothingListens } from './points.ts';
import { PlatformSettings } from './settings/platform-settings.ts';

export interface LocalCoreOptions {
  readonly config: PlatformConfig;
  readonly databaseUrl: string;
  readonly masterKey: Buffer;
  /** The public key of this machine as a node, which it need not be; `null` where it has none. */
  readonly nodeKey: Buffer | null;
}

export interface LocalCore {
  readonly context: CoreContext;
  close(): Promise<void>;
}

/** @throws StartError `master_key_wrong`, and where the schema is not that of this version, as {@link requireMigrated} */
export async function openLocalCore({ config, databaseUrl, masterKey, nodeKey }: LocalCoreOptions): Promise<LocalCore> {
  const file = new IntelligenceFile(config.intelligenceFile);
  await requireMigrated(databaseUrl);
  const { pool, database, close } = openDatabase({ url: databaseUrl, connections: 2, onError: () => undefined });
  const guarded = await timeOf(database);
  const stopping = new AbortController();
  // Never started: this process only notifies the others, through the database.
  const signals = new Signals(databaseUrl, () => undefined);
  const settings = new PlatformSettings({ config, file, database, signals, masterKey });
  let nodeId: string | null = null;
  const context = openContext(
    {
      config: { ...config, packagesDirectory: path.join(config.dataDirectory, 'packages'), shellDirectory: '' },
      settings,
      rates: config.rates,
      linkListen: config.linkListen,
      // A node has its connection to core itself.
      iroh: null,
      database,
      pool,
      signals,
      ...guarded,
      random: randomBytes,
      masterKey,
      cursors: cursorCodec(masterKey),
      log: createLog('fatal'),
      lifecycle: new Lifecycle(),
      count: () => undefined,
      at: nothingListens,
      stopping: stopping.signal,
    },
    () => nodeId,
  );
  async function end(): Promise<void> {
    stopping.abort();
    await close();
  }
  try {
    const opensFormerSecrets = () => opensControlCredentials(database, masterKey);
    await requireMasterKey({ database, masterKey, opensFormerSecrets });
    nodeId = nodeKey === null ? null : ((await findNodeByKey(database, nodeKey)) ?? null);
    await settings.read();
    followChanges(context);
    return { context, close: end };
  } catch (error) {
    await end();
    throw error;
  }
}
