// The process of core.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Core, createCore, type Log, linkKeyOf } from '@platform/core';
import { openMasterKey, withConnection } from '@platform/core/database';
import { createLog } from '@platform/core/log';
import type { CoreMetrics } from '@platform/core/metrics';
import { accountNotices, masterName } from '@platform/core/operator';
import { reasonOf, StartError } from '@platform/core/start';
import { openAppKit } from '../../init/app-kit.ts';
import { openMetrics } from '../../process/metrics.ts';
import type { Started } from '../../process/running.ts';
import { runPart, type Serving } from '../run-part.ts';
import type { CoreOrder, CoreReport } from './core.ts';

const REPOSITORY = fileURLToPath(new URL('../../../../../', import.meta.url));

async function start(order: CoreOrder, started: Started): Promise<Serving<CoreReport>> {
  const { config, folder, absence, databaseUrl, node, ingress } = order;
  if (config.databaseUrl !== null) await requireDatabase(config.databaseUrl);
  const masterKey = await openMasterKey(config.masterKeyFile, databaseUrl);
  const metrics = config.metricsListen === null ? undefined : await openMetrics('core', coreMetrics);
  const packagesDirectory = path.join(folder, 'packages');
  mkdirSync(packagesDirectory, { recursive: true, mode: 0o700 });
  const log = createLog(config.logLevel);
  const core = await createCore({
    config: { ...config, packagesDirectory, shellDirectory: path.join(REPOSITORY, 'packages', 'shell', 'dist') },
    databaseUrl,
    masterKey,
    clock: () => new Date(),
    random: randomBytes,
    log,
    systemPackages: systemPackages(),
    appKit: await openAppKit(),
    rates: config.rates,
    ...(metrics === undefined ? {} : { metrics: metrics.own }),
    identity: { folder, isNew: absence === 'new' },
    embeddedDatabase: config.databaseUrl === null,
    linkListen: config.linkListen,
    iroh: config.linkCarrier === 'iroh' ? { relay: config.irohRelay } : null,
    localNode: {
      publicKey: Buffer.from(node.publicKey),
      name: node.name,
      inherits: node.inherits,
      lostKey: absence,
      // With a database of its own there is no other core that could take this machine for lost.
      leased: config.databaseUrl !== null,
      runtime: config.localNode,
    },
    ...(ingress === null ? {} : { localIngress: { publicKey: Buffer.from(ingress.publicKey), name: ingress.name } }),
  });
  started.add(() => core.stop());
  return {
    report: {
      port: core.port,
      linkKey: linkKeyOf(masterKey).publicKey,
      operator: await masterName(core.context),
      notices: await accountNotices(core.context),
    },
    metrics: metrics?.text,
    reload: () => reload(core, log),
  };
}

async function coreMetrics(): Promise<CoreMetrics> {
  return (await import('@platform/core/metrics')).createCoreMetrics();
}

/** A wrong file keeps what was read before. */
async function reload(core: Pick<Core, 'reload'>, log: Pick<Log, 'info' | 'warn' | 'error'>): Promise<void> {
  try {
    await core.reload();
    log.info({}, 'read the files of the configuration again');
  } catch (error) {
    if (error instanceof StartError) log.warn({}, `what was read before stays in force: ${error.message}`);
    else log.error({ err: error }, 'the files of the configuration could not be read again');
  }
}

async function requireDatabase(url: string): Promise<void> {
  try {
    await withConnection({ connectionString: url, connectionTimeoutMillis: 10_000 }, async () => undefined);
  } catch (error) {
    throw new StartError(
      'database_unreachable',
      `PLATFORM_DATABASE_URL names a PostgreSQL that refused the connection (${reasonOf(error)}). Check the address, and that the server runs.`,
    );
  }
}

function systemPackages(): { path: string }[] {
  const apps = path.join(REPOSITORY, 'apps');
  return readdirSync(apps, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(path.join(apps, entry.name, 'dist')))
    .flatMap(({ name }) =>
      readdirSync(path.join(apps, name, 'dist'), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.tgz'))
        .map((file) => ({ path: path.join(apps, name, 'dist', file) })),
    );
}

runPart(start);
