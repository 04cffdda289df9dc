// The node as a process of its own: the Runtime and the Gateways of this machine. It gets neither the database nor the
// master key; what it may do at core it proves with its own key, at its start and whenever core has come back.
import { setTimeout as delay } from 'node:timers/promises';
import { createLog, type LogLevel } from '@platform/core/log';
import { openOwnNodeMetrics } from '../metrics.ts';
import type { NodeConfig } from '../node-config.ts';
import { openNodeIdentity } from '../node-identity.ts';
import { startNodeRuntime } from '../node-runtime.ts';
import type { Started } from '../running.ts';
import { runPart, type Serving } from './run-part.ts';

export interface NodeOrder {
  readonly config: NodeConfig;
  /** The data folder, absolute and locked. */
  readonly folder: string;
  readonly coreOrigin: string;
  readonly coreHost: string;
  /** What cores on other machines prove where they reach this one. */
  readonly controllerKey: Uint8Array;
  readonly logLevel: LogLevel;
  readonly withMetrics: boolean;
}

export interface NodeReport {
  /** How workloads are confined here, and why so, for people. */
  readonly sandbox: string;
  readonly because: readonly string[];
}

/** Milliseconds for the node to become known to core: a call over loopback. It goes on trying afterwards. */
const REGISTRATION_PATIENCE = 5_000;

async function start(order: NodeOrder, started: Started): Promise<Serving<NodeReport>> {
  const { config, folder, coreOrigin, coreHost, controllerKey, logLevel, withMetrics } = order;
  const metrics = withMetrics ? await openOwnNodeMetrics() : undefined;
  const runtime = await startNodeRuntime(config, {
    dataDirectory: folder,
    coreOrigin,
    coreHost,
    controllerKey: Buffer.from(controllerKey),
    key: openNodeIdentity(folder).key,
    // Cores on other machines reach this one there.
    ...(config.nodeControl === null ? {} : { control: config.nodeControl }),
    ...(config.nodePublic === null ? {} : { public: config.nodePublic }),
    log: createLog(logLevel),
    metrics: metrics?.node,
  });
  started.add(() => runtime.stop());
  // Until then core would answer for every backend that its machine does not answer.
  await Promise.race([runtime.registered, delay(REGISTRATION_PATIENCE, undefined, { ref: false })]);
  return { report: { sandbox: runtime.sandbox, because: runtime.because }, metrics: metrics?.text };
}

runPart(start);
