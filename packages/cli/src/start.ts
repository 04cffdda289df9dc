// `platform start`: everything in one process tree: PostgreSQL, core, the Runtime with its Gateways.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Core, createCore } from '@platform/core';
import { openDataFolder } from '@platform/core/config/data-folder.ts';
import { type PlatformConfig, readMasterKey } from '@platform/core/config/env.ts';
import { reasonOf, StartError } from '@platform/core/config/start-error.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@platform/core/database/embedded-postgres.ts';
import { createLog } from '@platform/core/log.ts';
import type { Runtime } from '@platform/runtime';
import pg from 'pg';
import type { Command } from './command.ts';
import { configuration } from './configuration.ts';
import { announceInstance, forgetInstance } from './instance.ts';
import { openPlatformMetrics, type PlatformMetrics } from './metrics.ts';
import { machineName, type NodeIdentity, openNodeIdentity } from './node-identity.ts';
import { startNodeRuntime } from './node-runtime.ts';
import { requireFreePort, runUntilStopped, Started, stopSignals } from './running.ts';
import { startBackend } from './start-stop.ts';
import { paint, say, step } from './terminal.ts';

const REPOSITORY = fileURLToPath(new URL('../../../', import.meta.url));

export const startCommand: Command = {
  summary: 'run the platform on this machine; with a name, start one backend',
  usage: `Usage: platform start
       platform start <account>/<app> | <installation id>

Alone it runs core, the Runtime and, unless PLATFORM_DATABASE_URL is set, PostgreSQL, until Ctrl-C or SIGTERM.
Configuration comes from environment variables; docs/configuration.md lists them.

With a name it starts that backend in the platform that runs on this machine, and says whether it listens.`,
  run: (args) => (args.length === 0 ? start() : startBackend(args)),
};

async function start(): Promise<number> {
  const config = configuration();
  const log = createLog(config.logLevel);
  const stopRequested = stopSignals();
  const started = new Started();
  const begun = performance.now();
  return runUntilStopped(started, async () => {
    const folder = openDataFolder(config.dataDirectory);
    started.add(() => folder.close());
    await requireFreePorts(config);
    const masterKey = openMasterKey(config.masterKeyFile);
    const postgres = config.databaseUrl === null ? await startPostgres(folder.path, started) : null;
    const databaseUrl = config.databaseUrl ?? postgres?.url ?? '';
    if (config.databaseUrl !== null) await requireDatabase(config.databaseUrl);
    const identity = openNodeIdentity(folder.path);
    const metrics = await openPlatformMetrics(config, started);
    const core = await step('Core', () =>
      startCore(config, { folder: folder.path, databaseUrl, masterKey, identity, metrics }),
    );
    started.add(() => core.stop());
    const runtime = await startRuntimeHere(config, { folder: folder.path, core, identity, log, metrics });
    if (runtime !== null) started.add(() => runtime.stop());
    announceInstance(folder.path, { pid: process.pid, databaseUrl, origin: config.origin });
    started.add(() => forgetInstance(folder.path));
    greet(config, folder.path, runtime, performance.now() - begun);
    const why = await Promise.race([
      stopRequested,
      ...(postgres === null ? [] : [postgres.exited.then((how) => `PostgreSQL ended: ${how}`)]),
    ]);
    return { why, code: why.startsWith('PostgreSQL') ? 1 : 0 };
  });
}

async function requireFreePorts({
  listenHost,
  listenPort,
  nodePort,
  localNode,
  linkListen,
}: PlatformConfig): Promise<void> {
  await requireFreePort('PLATFORM_OS_ORIGIN', listenHost, listenPort);
  if (localNode) await requireFreePort('PLATFORM_NODE_ORIGIN', listenHost, nodePort);
  if (linkListen !== null) await requireFreePort('PLATFORM_LINK_LISTEN', linkListen.host, linkListen.port);
}

function openMasterKey(file: string): Buffer {
  if (!existsSync(file)) {
    try {
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' });
    } catch (error) {
      throw new StartError(
        'master_key_unusable',
        `The master key ${file} cannot be created: ${reasonOf(error)}. Set PLATFORM_MASTER_KEY_FILE to a place that can be written.`,
      );
    }
  }
  return readMasterKey(file);
}

async function startPostgres(dataDirectory: string, started: Started): Promise<EmbeddedPostgres> {
  const postgres = await step('PostgreSQL', () => startEmbeddedPostgres({ dataDir: dataDirectory, log: say }));
  started.add(() => postgres.stop());
  return postgres;
}

async function requireDatabase(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  try {
    await client.connect();
  } catch (error) {
    throw new StartError(
      'database_unreachable',
      `PLATFORM_DATABASE_URL names a PostgreSQL that does not let us in (${reasonOf(error)}). Check the address, and that the server runs.`,
    );
  } finally {
    await client.end();
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

function startCore(
  config: PlatformConfig,
  place: {
    readonly folder: string;
    readonly databaseUrl: string;
    readonly masterKey: Buffer;
    readonly identity: NodeIdentity;
    readonly metrics: PlatformMetrics;
  },
): Promise<Core> {
  const packagesDirectory = path.join(place.folder, 'packages');
  mkdirSync(packagesDirectory, { recursive: true, mode: 0o711 });
  return createCore({
    config: { ...config, packagesDirectory, shellDirectory: path.join(REPOSITORY, 'packages', 'shell', 'dist') },
    databaseUrl: place.databaseUrl,
    masterKey: place.masterKey,
    clock: () => new Date(),
    random: randomBytes,
    log: createLog(config.logLevel),
    systemPackages: systemPackages(),
    rates: config.rates,
    ...(place.metrics.core === undefined ? {} : { metrics: place.metrics.core }),
    linkListen: config.linkListen,
    localNode: {
      publicKey: place.identity.key.publicKey,
      name: machineName(),
      inherits: place.identity.inherits,
      // With a database of its own there is no other core that could take this machine for lost.
      leased: config.databaseUrl !== null,
      runtime: config.localNode,
    },
  });
}

async function startRuntimeHere(
  config: PlatformConfig,
  parts: {
    readonly folder: string;
    readonly core: Core;
    readonly identity: NodeIdentity;
    readonly log: ReturnType<typeof createLog>;
    readonly metrics: PlatformMetrics;
  },
): Promise<Runtime | null> {
  const { core, identity } = parts;
  if (core.localNode === null) return null;
  const { nodeCredential } = core.localNode;
  return step('Runtime', () =>
    startNodeRuntime(config, {
      dataDirectory: parts.folder,
      coreOrigin: `http://${loopback(config.listenHost)}:${core.port}`,
      coreHost: new URL(config.origin).host,
      nodeCredential,
      key: identity.key,
      // Cores on other machines reach this one there.
      ...(config.nodeControl === null ? {} : { control: config.nodeControl }),
      log: parts.log,
      metrics: parts.metrics.node,
    }),
  );
}

/** Where to reach ourselves when listening on every address. */
function loopback(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
}

/** Written in one piece, so that whoever reads it has all of it. */
function greet(config: PlatformConfig, dataDirectory: string, runtime: Runtime | null, milliseconds: number): void {
  const configuration = config.effective.map(({ name, value, set }) =>
    paint('dim', `    ${name}=${value}${set ? '' : '  (default)'}`),
  );
  const warning = [
    'WARNING: PLATFORM_RUNTIME_ALLOW_UNSANDBOXED=true. Where no sandbox can be made, apps run with',
    'your rights on this machine. Use it only with apps you wrote yourself.',
  ];
  const lines = [
    '',
    `  ${paint('bold', 'The platform is running.')}  ${paint('dim', `${(milliseconds / 1000).toFixed(1)} s`)}`,
    '',
    `  Address      ${paint('cyan', config.origin)}`,
    `  Data folder  ${dataDirectory}`,
    `  Workloads    ${runtime?.sandbox ?? 'none here (PLATFORM_LOCAL_NODE=false): they run on the nodes that join'}`,
    ...(runtime?.because ?? []).map((line) => paint('dim', `               ${line}`)),
    '',
    paint('dim', '  Configuration'),
    ...configuration,
    ...config.notices.map((notice) => `  ${paint('yellow', '!')} ${notice}`),
    ...(config.allowUnsandboxed ? ['', ...warning.map((line) => `  ${paint('red', line)}`)] : []),
    '',
  ];
  say(lines.join('\n'));
}
