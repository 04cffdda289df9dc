// Core and the Runtime beside it, as `platform start` runs them in one process.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import * as path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Core, createCore } from '@platform/core';
import type { PlatformConfig } from '@platform/core/config/env.ts';
import { createLog } from '@platform/core/log.ts';
import type { Runtime } from '@platform/runtime';
import { openPlatformMetrics, type PlatformMetrics } from './metrics.ts';
import { machineName, type NodeIdentity, openNodeIdentity } from './node-identity.ts';
import { startNodeRuntime } from './node-runtime.ts';
import type { Started } from './running.ts';
import { step } from './terminal.ts';

const REPOSITORY = fileURLToPath(new URL('../../../', import.meta.url));

/** Milliseconds for the Runtime beside core to become known to it: a call over loopback. It goes on trying afterwards. */
const REGISTRATION_PATIENCE = 5_000;

interface Place {
  /** The data folder, absolute and locked. */
  readonly folder: string;
  readonly databaseUrl: string;
  readonly masterKey: Buffer;
}

/** Starts core, then the Runtime unless `PLATFORM_LOCAL_NODE` is false; `started` gets what ends them. */
export async function startCoreAndRuntime(
  config: PlatformConfig,
  place: Place,
  started: Started,
): Promise<{ readonly runtime: Runtime | null }> {
  const identity = openNodeIdentity(place.folder);
  const metrics = await openPlatformMetrics(config, started);
  const core = await step('Core', () => startCore(config, { ...place, identity, metrics: metrics.core }));
  started.add(() => core.stop());
  const { localNode } = core;
  if (localNode === null) return { runtime: null };
  const runtime = await step('Runtime', () =>
    startNodeRuntime(config, {
      dataDirectory: place.folder,
      coreOrigin: `http://${loopback(config.listenHost)}:${core.port}`,
      coreHost: new URL(config.origin).host,
      nodeCredential: localNode.nodeCredential,
      key: identity.key,
      // Cores on other machines reach this one there.
      ...(config.nodeControl === null ? {} : { control: config.nodeControl }),
      log: createLog(config.logLevel),
      metrics: metrics.node,
    }),
  );
  started.add(() => runtime.stop());
  // Until then core would answer for every backend that its machine does not answer.
  await Promise.race([runtime.registered, delay(REGISTRATION_PATIENCE, undefined, { ref: false })]);
  return { runtime };
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
  place: Place & { readonly identity: NodeIdentity; readonly metrics: PlatformMetrics['core'] },
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
    ...(place.metrics === undefined ? {} : { metrics: place.metrics }),
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

/** Where to reach ourselves when listening on every address. */
function loopback(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
}
