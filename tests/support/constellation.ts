// Boots the real core on a fresh database and free ports, in this process: one call for every test that needs it.
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { limits } from '@platform/contract';
import type { CoreConfig, Log, Rates } from '@platform/core';
import { type Core, type CoreOptions, createCore } from '@platform/core';
import { migrate } from '@platform/core/database';
import { keyFromSeed, type LinkKey } from '@platform/link';
import { freePort } from './free-port.ts';
import { buildTestPackage, testManifest } from './packages.ts';
import { type TestDatabase, testDatabase } from './postgres.ts';
import { unlimitedRates } from './rates.ts';

const SYSTEM_APPS = [
  'launcher',
  'store',
  'settings',
  'wallet',
  'contacts',
  'messages',
  'files',
  'agent',
  'notifications',
  'schedules',
  'fleet',
];

export interface ConstellationOptions {
  readonly config?: Partial<CoreConfig>;
  /** Time itself, for all that this core asks: without `machine`, what it goes ahead by has passed. */
  readonly clock?: () => Date;
  /** Clocks that do not agree. */
  readonly machine?: CoreOptions['machine'];
  readonly random?: (bytes: number) => Buffer;
  readonly rates?: Partial<Rates>;
  readonly topologyBeat?: CoreOptions['topologyBeat'];
  readonly modelPlaces?: CoreOptions['modelPlaces'];
  /** What apps that apps make begin with, and what is added to them. */
  readonly appKit?: CoreOptions['appKit'];
  /** How metadata documents of clients are fetched. */
  readonly clientDocuments?: CoreOptions['clientDocuments'];
  /** How web push connects and repeats. */
  readonly push?: CoreOptions['push'];
  /** How runs of schedules are delivered and repeated. */
  readonly schedules?: CoreOptions['schedules'];
  readonly metrics?: CoreOptions['metrics'];
  /** Holds core at named moments. */
  readonly at?: CoreOptions['at'];
  /** A migrated one. Default: a new one in the cluster of all tests. */
  readonly database?: TestDatabase;
  /** Core's machine is no node. */
  readonly withoutNode?: true;
  /** Built packages to start with. Default: minimal system apps. */
  readonly systemPackages?: readonly { readonly path: string }[];
}

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly fields: object;
  readonly message: string;
}

/** A core whose machine is a node; no Runtime runs on it. */
export type TestCore = Core & { readonly localNode: NonNullable<Core['localNode']> };

export interface Constellation {
  readonly core: TestCore;
  readonly origin: string;
  readonly port: number;
  readonly databaseUrl: string;
  readonly directory: string;
  /** Of the Ingress on core's machine, which runs only where a test starts it (`real-ingress.ts`). */
  readonly ingressKey: LinkKey;
  /** Every line core logged, for sweeps. */
  readonly log: readonly LogLine[];
  /** Starts a further replica of core on the same database and packages; stopped with the rest. */
  replica(more?: Partial<CoreOptions>): Promise<TestCore>;
  close(): Promise<void>;
}

export async function startConstellation(options: ConstellationOptions = {}): Promise<Constellation> {
  const database =
    options.database ?? (await testDatabase({ key: 'core', migrate: async (url) => void (await migrate(url)) }));
  const directory = await mkdtemp(path.join(tmpdir(), 'platform-test-'));
  const shellDirectory = path.join(directory, 'shell');
  const packagesDirectory = path.join(directory, 'packages');
  await mkdir(shellDirectory);
  await mkdir(packagesDirectory);
  await writeFile(path.join(shellDirectory, 'index.html'), '<!doctype html><title>shell</title>');
  const systemPackages = options.systemPackages ?? (await minimalSystemPackages(directory));
  const masterKey = randomBytes(32);
  const localNode = { publicKey: newNodeKey().publicKey, name: 'local', inherits: false, leased: false, runtime: true };
  const ingressKey = newNodeKey();
  const localIngress = { publicKey: ingressKey.publicKey, name: 'local' };
  const lines: LogLine[] = [];
  const log = recordingLog(lines);
  const started: Core[] = [];

  async function start(port: number, more: Partial<CoreOptions> = {}): Promise<TestCore> {
    const clock = more.clock ?? options.clock ?? (() => new Date());
    const config: CoreConfig = {
      origin: `http://shell.platform.localhost:${port}`,
      rpId: 'shell.platform.localhost',
      rpName: 'Platform',
      prfLegacySalt: null,
      sessionMilliseconds: 2_592_000_000,
      challengeMilliseconds: 300_000,
      sessionCookie: 'platform_session',
      appsDomain: 'apps.platform.localhost',
      ingressDomain: 'public.platform.localhost',
      ingressOrigin: { scheme: 'http', port: ':8791' },
      nodeOrigin: 'http://node.platform.localhost:8788',
      nodeLostMilliseconds: 60_000,
      notificationDays: limits.notificationDays.value,
      notificationsKept: limits.notificationsKept.value,
      accountDiskBytes: limits.accountDisk.value,
      accountMemoryPercent: 100,
      accountUdpPorts: limits.accountUdpPorts.value,
      defaultPlan: 'free',
      objectStore: null,
      outbound: { ca: null },
      messaging: {
        serverName: 'shell.platform.localhost',
        bridge: { kind: 'none' },
        federation: null,
        clientUrl: null,
      },
      listenHost: '127.0.0.1',
      listenPort: port,
      trustedProxies: [],
      masterAccount: null,
      registration: 'open',
      passkeyBackupChanges: 'refused',
      operatorContact: null,
      publishers: 'everyone',
      vapidSubject: 'mailto:operator@platform.example',
      pushPrivateOrigins: [],
      searchOpenSearch: null,
      intelligenceFile: null,
      webSearchFile: null,
      packagesDirectory,
      shellDirectory,
      ...options.config,
    };
    const core = await createCore({
      config,
      databaseUrl: database.url,
      masterKey,
      clock,
      machine: options.machine ?? { clock, database: clock, uptime: () => clock().getTime(), boot: 'test' },
      random: options.random ?? randomBytes,
      log,
      systemPackages,
      rates: { ...unlimitedRates, ...options.rates },
      ...(options.modelPlaces === undefined ? {} : { modelPlaces: options.modelPlaces }),
      ...(options.topologyBeat === undefined ? {} : { topologyBeat: options.topologyBeat }),
      ...(options.appKit === undefined ? {} : { appKit: options.appKit }),
      ...(options.clientDocuments === undefined ? {} : { clientDocuments: options.clientDocuments }),
      ...(options.push === undefined ? {} : { push: options.push }),
      ...(options.schedules === undefined ? {} : { schedules: options.schedules }),
      ...(options.metrics === undefined ? {} : { metrics: options.metrics }),
      ...(options.at === undefined ? {} : { at: options.at }),
      ...(options.withoutNode === true ? {} : { localNode }),
      localIngress,
      ...more,
    });
    started.push(core);
    return withLocalNode(core);
  }

  const port = await freePort();
  const core = await start(port);
  return {
    core,
    origin: core.context.config.origin,
    port,
    databaseUrl: database.url,
    directory,
    ingressKey,
    log: lines,
    replica: async (more) => start(await freePort(), more),
    async close() {
      await Promise.all(started.map((one) => one.stop()));
      await database.drop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** A core without a node has none here either: asking for it fails then, and only then. */
function withLocalNode(core: Core): TestCore {
  const { localNode } = core;
  if (localNode !== null) return { ...core, localNode };
  return Object.defineProperty({ ...core }, 'localNode', {
    get() {
      throw new Error('this core has no local node');
    },
  }) as TestCore;
}

/** The key of a node, as a machine makes it. */
export function newNodeKey(): LinkKey {
  return keyFromSeed(randomBytes(32));
}

/** Of the apps that alone may manage something. */
const MANAGERS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  schedules: {
    systemRoles: ['schedules.manager-ui'],
    permissions: [{ id: 'schedules.manage', resources: ['*'] }],
  },
  files: {
    systemRoles: ['files.user-manager'],
    permissions: [{ id: 'files.user.manage', resources: ['*'] }],
  },
};

async function minimalSystemPackages(directory: string): Promise<{ path: string }[]> {
  return Promise.all(
    SYSTEM_APPS.map(async (id) => {
      const file = path.join(directory, `${id}.tgz`);
      await writeFile(file, await buildTestPackage({ manifest: testManifest(id, MANAGERS[id] ?? {}) }));
      return { path: file };
    }),
  );
}

function recordingLog(lines: LogLine[]): Log {
  const record = (level: LogLine['level']) => (fields: object, message: string) =>
    void lines.push({ level, fields, message });
  return { debug: record('debug'), info: record('info'), warn: record('warn'), error: record('error') };
}
