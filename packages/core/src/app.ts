// The one place where core is wired: configuration in, a listening server out. Read this file first.
import type { AddressInfo } from 'node:net';
import { listenFast, placeToListen } from '@platform/http';
import { IrohEndpoint } from '@platform/link';
import { findAccount, isAccount, listAccounts, masterName, requireOneMaster } from './accounts/face.ts';
import { jobWorker } from './background/jobs.ts';
import { ClockGuard } from './clock/clock-guard.ts';
import { type MachineTime, machineTime } from './clock/machine-time.ts';
import type { CoreConfig } from './config/config.ts';
import { placeOf } from './config/database-url.ts';
import { IntelligenceFile } from './config/intelligence-file.ts';
import { defaultRates, type Rates } from './config/rates.ts';
import { StartError } from './config/start-error.ts';
import { connectServer, type DocumentOptions } from './connections/face.ts';
import type { CoreContext, Log } from './context.ts';
import { linkKeyOf } from './credentials/master-key.ts';
import { requireMasterKey } from './credentials/master-key-check.ts';
import { untilRefused, type WatchOptions, watchDatabase } from './database/database-watch.ts';
import type { FairPool } from './database/fair-pool.ts';
import { migrate } from './database/migrate.ts';
import { openDatabase } from './database/open-database.ts';
import type { Executor } from './database/schema.ts';
import { serverOf } from './database/servers.ts';
import { Signals } from './database/signals.ts';
import { leavingReserve } from './disk/face.ts';
import { handlersOf, schemesOf } from './domain.ts';
import { coreDomains, type DomainOptions } from './domains.ts';
import { frontendHandler } from './frontends/serve.ts';
import { BodyPool } from './http/bodies/body-pool.ts';
import { LargeBodies } from './http/bodies/large-bodies.ts';
import { authenticator } from './http/callers/authenticate.ts';
import { FailedLookups, unknownLookups } from './http/callers/failed-lookups.ts';
import { IdentityCache } from './http/callers/identity-cache.ts';
import { KnownBrowsers } from './http/callers/known-browsers.ts';
import { cursorCodec } from './http/cursor.ts';
import { Pacing } from './http/rates/pacing.ts';
import { takeFromBucket } from './http/rates/rate-buckets.ts';
import { rateLimiter } from './http/rates/rate-limit.ts';
import { createServer } from './http/server/server.ts';
import { shellFiles } from './http/server/shell-files.ts';
import { type Identity, type IdentityOptions, openIdentity } from './identity/open-identity.ts';
import { ensureLocalIngress, isIngressKey, type LocalIngress, type LocalIngressOptions } from './ingress/face.ts';
import { bearsSystemRole, missingGrant } from './installations/face.ts';
import { findForbiddenMaterial } from './key-material/forbidden-material.ts';
import { Lifecycle } from './lifecycle.ts';
import type { CoreMetrics } from './metrics.ts';
import {
  ensureLocalNode,
  type LocalNode,
  type LocalNodeOptions,
  listenForNodes,
  opensControlCredentials,
  withoutLocalNode,
} from './nodes/face.ts';
import { openContext } from './open-context.ts';
import { type At, nothingListens } from './points.ts';
import type { PushOptions } from './push/face.ts';
import { openWebPush } from './push/face.ts';
import type { DeliveryOptions } from './schedules/face.ts';
import { openSearching, openSearchPool } from './search/face.ts';
import { PlatformSettings } from './settings/platform-settings.ts';
import { PLATFORM_VERSION } from './version.ts';

export { linkKeyOf } from './credentials/master-key.ts';
export type { AppKit } from './drafts/face.ts';
export type { Point } from './points.ts';
export type { At, CoreConfig, Log, Rates };

export interface CoreOptions {
  readonly config: CoreConfig;
  readonly databaseUrl: string;
  readonly masterKey: Buffer;
  readonly clock: () => Date;
  /** What else than the clock tells the time. Default: the machine that this runs on, with `clock`. */
  readonly machine?: MachineTime;
  readonly random: (bytes: number) => Buffer;
  readonly log: Log;
  /** Built packages of the apps that come with the platform. */
  readonly systemPackages: readonly { readonly path: string }[];
  /** Default: the limits of the contract. */
  readonly rates?: Rates;
  /** Default: nothing is counted. */
  readonly metrics?: CoreMetrics;
  /** The machine of this core as a node; `runtime` is whether workloads run on it. Default: it is none. */
  readonly localNode?: LocalNodeOptions & { readonly runtime: boolean };
  /** The data folder, whose database this must be. Default: none is looked at. */
  readonly identity?: IdentityOptions;
  /** The machine of this core as an Ingress. Default: it is none. */
  readonly localIngress?: LocalIngressOptions;
  /** The database lies on the disk of the packages: apps leave the reserve of that disk alone. Default: it does not. */
  readonly embeddedDatabase?: boolean;
  /** Where nodes of other machines reach this core over TLS under its own key. Default: nowhere. */
  readonly linkListen?: { readonly host: string; readonly port: number } | null;
  /** Nodes behind NAT connect there over UDP as well; `relay` is a URL, if there is one. Default: they cannot. */
  readonly iroh?: { readonly relay: string | null } | null;
  /** Milliseconds between two signs of life of the topology stream, for tests. Default: as documented. */
  readonly topologyBeat?: number;
  /** Where model servers are looked for, for tests. Default: where they listen by themselves. */
  readonly modelPlaces?: DomainOptions['modelPlaces'];
  /** What apps that apps make begin with, and what is added to them. Default: nothing. */
  readonly appKit?: DomainOptions['appKit'];
  /** How metadata documents of clients are fetched, for tests; none of it can be configured. Default: as documented. */
  readonly clientDocuments?: DocumentOptions;
  /** How web push connects and repeats, for tests; none of it can be configured. Default: as documented. */
  readonly push?: PushOptions;
  /** How runs of schedules are delivered and repeated, for tests. Default: as documented. */
  readonly schedules?: DeliveryOptions;
  /** Holds, stops or kills core at named moments, for tests alone. Default: nothing listens. */
  readonly at?: At;
  /** Milliseconds that only ever go forward. Default: `performance.now`. */
  readonly monotonic?: () => number;
}

/** Until the folder knows an account that was registered as the master. */
const NOTE_MASTER_MILLISECONDS = 10_000;

export interface Core {
  /** The port the server really listens on. */
  readonly port: number;
  readonly context: CoreContext;
  /** Of the link listener, where there is one. */
  readonly linkPort: number | null;
  /** What the Runtime on this machine presents to core, new at every start; `null` without one. */
  readonly localNode: LocalNode | null;
  /** What the Ingress on this machine presents to core, new at every start; `null` without one. */
  readonly localIngress: LocalIngress | null;
  /**
   * Reads again what can change while it runs: the file of AI providers.
   *
   * @throws StartError when it is wrong; what was read before stays in force
   */
  reload(): Promise<void>;
  /** Ends streams and long polls, finishes requests, closes the database. */
  stop(): Promise<void>;
}

export async function createCore(options: CoreOptions): Promise<Core> {
  const { config, log, random } = options;
  const file = new IntelligenceFile(config.intelligenceFile);
  const applied = await migrate(options.databaseUrl, undefined, (missing) =>
    log.warn(
      { version: PLATFORM_VERSION, migrations: missing.map(({ name }) => name), oldest: missing.at(-1)?.oldestVersion },
      'the database gets the schema of this version; the way back is a backup, or a version that is not older than the oldest',
    ),
  );
  if (applied.length > 0) log.info({ applied }, 'migrated the database schema');
  const onError = (error: unknown) => log.warn({ err: error }, 'a database connection was lost');
  // Ended in the reverse order, also when one of them does not start: what stayed open would keep the process.
  await using parts = new AsyncDisposableStack();
  const { pool, database, close } = openDatabase({ url: options.databaseUrl, onError });
  parts.defer(close);
  const searchPool = openSearchPool({ url: options.databaseUrl, onError });
  parts.defer(() => searchPool.end());
  const silence = watchDatabase({
    url: options.databaseUrl,
    patience: untilRefused,
    ...refusing([pool, searchPool], { url: options.databaseUrl, log }),
  });
  parts.defer(() => silence.stop());
  const { masterKey } = options;
  await requireMasterKey({
    database,
    masterKey,
    opensFormerSecrets: () => opensControlCredentials(database, masterKey),
  });
  await requireOneMaster({ database, config });
  const identity = await openOwnIdentity(database, options);
  const signals = new Signals(options.databaseUrl, onError);
  parts.defer(() => signals.stop());
  await signals.start();
  const settings = new PlatformSettings({ config, file, database, signals, masterKey });
  await settings.read();
  const machine = options.machine ?? machineTime(options.clock, random);
  const time = await ClockGuard.open(machine, { database, log });
  await time.start();
  parts.defer(() => time.stop());
  const clock = time.now;
  const stopping = new AbortController();
  const { linkListen = null } = options;
  const rates = options.rates ?? defaultRates;
  const iroh = await openIroh({ ...options, linkListen });
  if (iroh !== null) parts.defer(() => iroh.close());
  let localNode: LocalNode | null = null;
  const context = openContext(
    {
      iroh,
      rates,
      config,
      settings,
      linkListen,
      database,
      pool,
      signals,
      clock,
      time,
      random,
      masterKey,
      cursors: cursorCodec(masterKey),
      log,
      lifecycle: new Lifecycle(),
      count: options.metrics?.count ?? (() => undefined),
      at: options.at ?? nothingListens,
      stopping: stopping.signal,
    },
    () => localNode?.nodeId ?? null,
  );
  parts.defer(() => context.backends.close());
  const noteMaster = () =>
    (identity?.noteMaster() ?? Promise.resolve(true)).catch((error: unknown) => {
      log.warn({ err: error }, 'the master account was not noted');
      return false;
    });
  const noting = setInterval(() => {
    void noteMaster().then((isNoted) => isNoted && clearInterval(noting));
  }, NOTE_MASTER_MILLISECONDS);
  parts.defer(() => clearInterval(noting));
  signals.on('master-changed', ({ name, named }) => {
    log.warn(
      { account: name },
      `at the console the account was ${named ? 'made the operator' : 'withdrawn as the operator'}`,
    );
    void noteMaster();
  });
  localNode = await openLocalNode(context, options.localNode);
  const domains = coreDomains(context, {
    ...options,
    searching: await openSearching(context, searchPool),
    pushing: await openWebPush(context, options.push ?? {}),
  });
  context.lifecycle.follow(domains);
  context.policies.follow(domains);
  context.opens.follow(domains);
  context.builtInTools.follow(domains);
  context.callers.follow(schemesOf(domains));
  context.streams.follow(domains.flatMap(({ emits = [] }) => emits));
  options.metrics?.watch({ pools: [pool, searchPool], gauges: domains.flatMap(({ gauges = [] }) => gauges) });
  for (const domain of domains) await domain.starting?.();
  const { localIngress: besideCore } = options;
  const localIngress =
    besideCore === undefined
      ? null
      : await ensureLocalIngress(context, { ...besideCore, nodeId: localNode?.nodeId ?? null });
  const bodies = new BodyPool();
  parts.defer(() => bodies.close());
  const largeBodies = new LargeBodies(config.packagesDirectory, bodies);
  await largeBodies.sweep(time.proven());
  const takeRate = rateLimiter({ rates, clock, takeFromBucket: (request) => takeFromBucket(pool, request) });
  const connect = connectServer(context, { takeRate, documents: options.clientDocuments });
  parts.defer(() => connect.close());
  const serving: Parameters<typeof createServer>[0] = {
    connect,
    config,
    log,
    random,
    handlers: handlersOf(domains),
    findSecrets: findForbiddenMaterial,
    bodies,
    largeBodies,
    callers: context.callers,
    authenticator: authenticator(context.callers.schemes, new IdentityCache(signals, clock, context.callers.schemes), {
      clock,
      failures: new FailedLookups({ most: unknownLookups(rates), clock }),
    }),
    pacing: new Pacing({ rates, config }),
    takeRate,
    browsers: new KnownBrowsers(context),
    missingGrant: (caller, wanted) => missingGrant(pool, caller, wanted),
    bearsRole: (installationId, role) => bearsSystemRole(pool, installationId, role),
    ...(options.embeddedDatabase === true ? { requireRoom: leavingReserve(config.packagesDirectory) } : {}),
    settled: () => signals.settled(pool),
    ...(options.metrics === undefined ? {} : { answered: options.metrics.answered }),
    serveShell: await shellFiles(config, () => random(12).toString('base64url')),
    serveApp: frontendHandler(context, new FailedLookups({ most: unknownLookups(rates), clock })),
  };
  const server = createServer(serving);
  context.routeCalls.open(serving);
  parts.defer(() => server.close());
  const place = await placeToListen({ host: config.listenHost, port: config.listenPort });
  await server.listen(place);
  const sockets = await listenFast(server.server);
  parts.defer(() => sockets.close());
  const link =
    linkListen === null
      ? null
      : await listenForNodes(context, server.server, linkListen, (key) => isIngressKey(database, key));
  if (link !== null) parts.defer(() => link.close());
  for (const worker of domains.flatMap(({ workers = [], jobs = [] }) => [
    ...workers,
    ...jobs.map((kind) => jobWorker(context, kind)),
  ])) {
    parts.defer(() => worker.stop());
    worker.start();
  }
  const running = parts.move();
  return {
    port: (server.server.address() as AddressInfo).port,
    context,
    linkPort: link?.port ?? null,
    localNode,
    localIngress,
    async reload() {
      for (const domain of domains) await domain.reloaded?.();
    },
    async stop() {
      stopping.abort();
      await running.disposeAsync();
    },
  };
}

/** What becomes of the pools when PostgreSQL hangs, and when it answers again. */
function refusing(
  pools: readonly FairPool[],
  { url, log }: { readonly url: string; readonly log: Log },
): Pick<WatchOptions, 'silent' | 'answers' | 'moved'> {
  return {
    moved() {
      log.warn({ server: placeOf(serverOf(url)) }, 'another PostgreSQL of PLATFORM_DATABASE_URL takes writes now');
      for (const pool of pools) pool.reconnect();
    },
    silent() {
      log.error({}, 'PostgreSQL does not answer; every request is refused at once until it does');
      for (const pool of pools) pool.refuse();
    },
    answers() {
      log.warn({}, 'PostgreSQL answers again');
      for (const pool of pools) pool.serve();
    },
  };
}

async function openIroh({
  masterKey,
  linkListen = null,
  iroh = null,
}: Pick<CoreOptions, 'masterKey' | 'linkListen' | 'iroh'>): Promise<IrohEndpoint | null> {
  if (iroh === null) return null;
  if (linkListen === null && iroh.relay === null)
    throw new StartError(
      'no_link_listener',
      'PLATFORM_LINK_CARRIER is iroh, and nodes could not find this core. Set PLATFORM_LINK_LISTEN as well, or PLATFORM_IROH_RELAY.',
    );
  const listen = linkListen === null ? {} : { listen: linkListen };
  return IrohEndpoint.open({ key: linkKeyOf(masterKey), ...listen, relay: iroh.relay });
}

async function openOwnIdentity(database: Executor, { identity, config }: CoreOptions): Promise<Identity | null> {
  if (identity === undefined) return null;
  return openIdentity(database, identity, {
    master: () => masterName({ database, config }),
    keyOf: async (name) => (await findAccount({ database }, name))?.key,
    isAccount: (key) => isAccount({ database }, key),
    isAny: async () => (await listAccounts({ database }, 1)).length > 0,
  });
}

async function openLocalNode(context: CoreContext, options: CoreOptions['localNode']): Promise<LocalNode | null> {
  if (options === undefined) return null;
  if (options.runtime) return ensureLocalNode(context, options);
  await withoutLocalNode(context, options.publicKey);
  return null;
}
