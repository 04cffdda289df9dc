// `platform start`: everything in one process tree: PostgreSQL, core, the Runtime with its Gateways.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { openDataFolder } from '@platform/core/config/data-folder.ts';
import { type PlatformConfig, readMasterKey } from '@platform/core/config/env.ts';
import { reasonOf, StartError } from '@platform/core/config/start-error.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@platform/core/database/embedded-postgres.ts';
import type { Runtime } from '@platform/runtime';
import pg from 'pg';
import type { Command } from './command.ts';
import { configuration } from './configuration.ts';
import { announceInstance, forgetInstance } from './instance.ts';
import { requireFreePort, runUntilStopped, Started, stopSignals } from './running.ts';
import { paint, say, step } from './terminal.ts';

export const startCommand: Command = {
  summary: 'run the platform on this machine; with a name, start one backend',
  usage: `Usage: platform start
       platform start <account>/<app> | <installation id>

Alone it runs core, the Runtime and, unless PLATFORM_DATABASE_URL is set, PostgreSQL, until Ctrl-C or SIGTERM.
Configuration comes from environment variables; docs/configuration.md lists them.

With a name it starts that backend in the platform that runs on this machine, and says whether it listens.`,
  run: async (args) => (args.length === 0 ? start() : (await import('./start-stop.ts')).startBackend(args)),
};

async function start(): Promise<number> {
  const config = configuration();
  const stopRequested = stopSignals();
  const started = new Started();
  const begun = performance.now();
  return runUntilStopped(started, async () => {
    const folder = openDataFolder(config.dataDirectory);
    started.add(() => folder.close());
    await requireFreePorts(config);
    const masterKey = openMasterKey(config.masterKeyFile);
    // PostgreSQL takes most of a second to answer, and what stands on it as long to be read: both at a time.
    const loading = import('./core-and-runtime.ts');
    const postgres = config.databaseUrl === null ? await startPostgres(folder.path, started) : null;
    const databaseUrl = config.databaseUrl ?? postgres?.url ?? '';
    if (config.databaseUrl !== null) await requireDatabase(config.databaseUrl);
    const { startCoreAndRuntime } = await loading;
    const { runtime } = await startCoreAndRuntime(config, { folder: folder.path, databaseUrl, masterKey }, started);
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
