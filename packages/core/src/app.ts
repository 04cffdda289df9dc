// The one place where core is wired: configuration in, a listening server out. Read this file first.
import type { AddressInfo } from 'node:net';
import { findSession } from './accounts/find-session.ts';
import { accountRoutes } from './accounts/routes.ts';
import { catalogRoutes } from './catalog/routes.ts';
import { ensureSystemPackages } from './catalog/system-packages.ts';
import type { CoreConfig } from './config/config.ts';
import type { CoreContext, Log } from './context.ts';
import { migrate } from './database/migrate.ts';
import { openDatabase } from './database/open-database.ts';
import { Signals } from './database/signals.ts';
import { frontendHandler } from './frontends/serve.ts';
import { authenticator } from './http/authenticate.ts';
import { cursorCodec } from './http/cursor.ts';
import type { Handlers } from './http/handlers.ts';
import { healthRoutes } from './http/health.ts';
import { IdentityCache } from './http/identity-cache.ts';
import { defaultRates, type Rates, rateLimiter } from './http/rate-limit.ts';
import { createServer } from './http/server.ts';
import { shellFiles } from './http/shell-files.ts';
import { createDefaultInstallations } from './installations/default-installations.ts';
import { findFrontendCaller, findInstallationCaller } from './installations/find-caller.ts';
import { followSystemPackages } from './installations/follow-system-packages.ts';
import { installationRoutes } from './installations/routes.ts';
import { leaseRoutes } from './leases/routes.ts';
import { EventHub } from './notifications/event-hub.ts';
import { eventRoutes } from './notifications/events.ts';
import { notificationRoutes } from './notifications/routes.ts';
import { searchRoutes } from './search/routes.ts';
import { findNodeCaller } from './topology/find-node.ts';
import { Followers } from './topology/followers.ts';
import { ensureLocalNode } from './topology/local-node.ts';
import { Nodes } from './topology/nodes.ts';
import { nodeRoutes } from './topology/routes.ts';

export interface CoreOptions {
  readonly config: CoreConfig;
  readonly databaseUrl: string;
  readonly masterKey: Buffer;
  readonly clock: () => Date;
  readonly random: (bytes: number) => Buffer;
  readonly log: Log;
  /** Built packages of the apps that come with the platform. */
  readonly systemPackages: readonly { readonly path: string }[];
  /** Default: the limits of the contract. */
  readonly rates?: Rates;
}

export interface Core {
  /** The port the server really listens on. */
  readonly port: number;
  readonly context: CoreContext;
  /** What the Runtime on this machine presents to core; new at every start. */
  readonly localNode: { readonly nodeId: string; readonly nodeCredential: string };
  /** Ends streams and long polls, finishes requests, closes the database. */
  stop(): Promise<void>;
}

export async function createCore(options: CoreOptions): Promise<Core> {
  const { config, log, clock, random } = options;
  const applied = await migrate(options.databaseUrl);
  if (applied.length > 0) log.info({ applied }, 'the database was brought to this version');
  const onError = (error: unknown) => log.warn({ err: error }, 'a database connection was lost');
  const { pool, database, close } = openDatabase({ url: options.databaseUrl, onError });
  const signals = new Signals(options.databaseUrl, onError);
  await signals.start();
  const stopping = new AbortController();
  const context: CoreContext = {
    config,
    database,
    pool,
    signals,
    clock,
    random,
    masterKey: options.masterKey,
    cursors: cursorCodec(options.masterKey),
    log,
    stopping: stopping.signal,
  };
  const shipped = await ensureSystemPackages(context, options.systemPackages);
  const localNode = await ensureLocalNode(context);
  await followSystemPackages(context, shipped);
  const server = createServer({
    config,
    log,
    random,
    handlers: handlers(context),
    authenticator: authenticator(
      {
        findSession: (hash) => findSession(context, hash),
        findFrontendCaller: (hash) => findFrontendCaller(context, hash),
        findInstallationCaller: (hash) => findInstallationCaller(context, hash),
        findNodeCaller: (hash) => findNodeCaller(context, hash),
      },
      new IdentityCache(signals, clock),
      { sessionCookie: config.sessionCookie, clock },
    ),
    takeRate: rateLimiter(options.rates ?? defaultRates, clock),
    settled: () => signals.settled(pool),
    serveShell: await shellFiles(config, () => random(12).toString('base64url')),
    serveApp: frontendHandler(context),
  });
  await server.listen({ host: config.listenHost, port: config.listenPort });
  return {
    port: (server.server.address() as AddressInfo).port,
    context,
    localNode,
    async stop() {
      stopping.abort();
      await server.close();
      await signals.stop();
      await close();
    },
  };
}

function handlers(context: CoreContext): Handlers {
  const nodes = new Nodes(context);
  const followers = new Followers(context);
  const hub = new EventHub(context);
  return {
    ...healthRoutes(context),
    ...accountRoutes(context, { createDefaultInstallations }),
    ...catalogRoutes(context),
    ...installationRoutes(context, { nodes, followers, hub }),
    ...notificationRoutes(context),
    ...eventRoutes(context, hub),
    ...searchRoutes(context),
    ...nodeRoutes(context, followers),
    ...leaseRoutes(context),
  };
}
