// `platform start`: everything in one process tree: PostgreSQL, core, the Runtime with its Gateways.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Core, createCore } from '@platform/core';
import { openDataFolder } from '@platform/core/config/data-folder.ts';
import { type PlatformConfig, readMasterKey } from '@platform/core/config/env.ts';
import { reasonOf, StartError, systemCode } from '@platform/core/config/start-error.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@platform/core/database/embedded-postgres.ts';
import { createLog } from '@platform/core/log.ts';
import { startGateway } from '@platform/gateway';
import { type Runtime, startRuntime } from '@platform/runtime';
import pg from 'pg';
import type { Command } from './command.ts';
import { configuration } from './configuration.ts';
import { announceInstance, forgetInstance } from './instance.ts';
import { paint, say, step } from './terminal.ts';

const REPOSITORY = fileURLToPath(new URL('../../../', import.meta.url));
const STOP_LIMIT_MS = 9_000;

export const startCommand: Command = {
  summary: 'run the platform on this machine',
  usage: `Usage: platform start

Runs core, the Runtime and, unless PLATFORM_DATABASE_URL is set, PostgreSQL, until Ctrl-C or SIGTERM.
Configuration comes from environment variables; docs/configuration.md lists them.`,
  run: start,
};

/** What was started, in the order of starting; stopped in the reverse order. */
class Started {
  readonly #stops: (() => Promise<void> | void)[] = [];

  add(stop: () => Promise<void> | void): void {
    this.#stops.push(stop);
  }

  async stop(): Promise<void> {
    for (const stop of this.#stops.splice(0).reverse()) {
      await Promise.resolve(stop()).catch((error: unknown) => {
        process.stderr.write(`platform: while stopping: ${reasonOf(error)}\n`);
      });
    }
  }
}

async function start(): Promise<number> {
  const config = configuration();
  const log = createLog(config.logLevel);
  const stopRequested = stopSignals();
  const started = new Started();
  const begun = performance.now();
  try {
    const folder = openDataFolder(config.dataDirectory);
    started.add(() => folder.close());
    await requireFreePort('PLATFORM_OS_ORIGIN', config.listenHost, config.listenPort);
    await requireFreePort('PLATFORM_NODE_ORIGIN', config.listenHost, config.nodePort);
    const masterKey = openMasterKey(config.masterKeyFile);
    const postgres = config.databaseUrl === null ? await startPostgres(folder.path, started) : null;
    const databaseUrl = config.databaseUrl ?? postgres?.url ?? '';
    if (config.databaseUrl !== null) await requireDatabase(config.databaseUrl);
    const core = await step('Core', () => startCore(config, folder.path, databaseUrl, masterKey));
    started.add(() => core.stop());
    const runtime = await step('Runtime', () => startLocalRuntime(config, folder.path, core, log));
    started.add(() => runtime.stop());
    announceInstance(folder.path, { pid: process.pid, databaseUrl, origin: config.origin });
    started.add(() => forgetInstance(folder.path));
    greet(config, folder.path, runtime, performance.now() - begun);
    const ended = await Promise.race([
      stopRequested,
      ...(postgres === null ? [] : [postgres.exited.then((how) => `PostgreSQL ended: ${how}`)]),
    ]);
    say(`\nStopping (${ended}) …`);
    return await stopWithin(started, ended.startsWith('PostgreSQL') ? 1 : 0);
  } catch (error) {
    await stopWithin(started, 1);
    throw error;
  }
}

/** One Ctrl-C arrives twice, from the terminal and from npm; a person's second one comes later. */
const REPEATED_SIGNAL_MS = 1_000;

/** Resolves with the name of the first signal; a second one ends the process at once. */
function stopSignals(): Promise<string> {
  return new Promise((resolve) => {
    let asked: number | undefined;
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        if (asked !== undefined && performance.now() - asked > REPEATED_SIGNAL_MS) process.exit(130);
        asked ??= performance.now();
        resolve(signal);
      });
    }
  });
}

async function stopWithin(started: Started, code: number): Promise<number> {
  const limit = setTimeout(() => {
    process.stderr.write('platform: stopping took too long; ending now.\n');
    process.exit(1);
  }, STOP_LIMIT_MS);
  await started.stop();
  clearTimeout(limit);
  return code;
}

export async function requireFreePort(variable: string, host: string, port: number): Promise<void> {
  const server = net.createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, exclusive: true }, resolve);
  }).catch((error: unknown) => {
    const what =
      systemCode(error) === 'EADDRINUSE' ? 'is used by another program' : `cannot be used (${reasonOf(error)})`;
    throw new StartError(
      'port_taken',
      `Port ${port} on ${host} ${what}. Stop that program, or set another port in ${variable}.`,
    );
  });
  await new Promise<void>((resolve) => server.close(() => resolve()));
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
  dataDirectory: string,
  databaseUrl: string,
  masterKey: Buffer,
): Promise<Core> {
  const packagesDirectory = path.join(dataDirectory, 'packages');
  mkdirSync(packagesDirectory, { recursive: true, mode: 0o711 });
  return createCore({
    config: { ...config, packagesDirectory, shellDirectory: path.join(REPOSITORY, 'packages', 'shell', 'dist') },
    databaseUrl,
    masterKey,
    clock: () => new Date(),
    random: randomBytes,
    log: createLog(config.logLevel),
    systemPackages: systemPackages(),
    rates: config.rates,
  });
}

function startLocalRuntime(
  config: PlatformConfig,
  dataDirectory: string,
  core: Core,
  log: ReturnType<typeof createLog>,
): Promise<Runtime> {
  return startRuntime({
    dataDirectory,
    coreOrigin: `http://${loopback(config.listenHost)}:${core.port}`,
    coreHost: new URL(config.origin).host,
    nodeCredential: core.localNode.nodeCredential,
    nodeOrigin: config.nodeOrigin,
    listenHost: config.listenHost,
    listenPort: config.nodePort,
    allowUnsandboxed: config.allowUnsandboxed,
    workloadDns: config.workloadDns,
    clock: () => new Date(),
    random: randomBytes,
    log,
    startGateway,
  });
}

/** Where to reach ourselves when listening on every address. */
function loopback(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
}

/** Written in one piece, so that whoever reads it has all of it. */
function greet(config: PlatformConfig, dataDirectory: string, runtime: Runtime, milliseconds: number): void {
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
    `  Workloads    ${runtime.sandbox}`,
    '',
    paint('dim', '  Configuration'),
    ...configuration,
    ...config.notices.map((notice) => `  ${paint('yellow', '!')} ${notice}`),
    ...(config.allowUnsandboxed ? ['', ...warning.map((line) => `  ${paint('red', line)}`)] : []),
    '',
  ];
  say(lines.join('\n'));
}
