// The process of the node.
import { setTimeout as delay } from 'node:timers/promises';
import { createLog } from '@platform/core/log';
import { openNodeIdentity } from '../../members/node-identity.ts';
import { nodeMetrics } from '../../node/metrics.ts';
import { startNodeRuntime } from '../../node/runtime.ts';
import { openMetrics } from '../../process/metrics.ts';
import type { Started } from '../../process/running.ts';
import { runPart, type Serving } from '../run-part.ts';
import type { NodeOrder, NodeReport } from './node.ts';

/** Milliseconds for the node to become known to core: a call over loopback. It goes on trying afterwards. */
const REGISTRATION_PATIENCE = 5_000;

async function start(order: NodeOrder, started: Started): Promise<Serving<NodeReport>> {
  const { config, folder, coreOrigin, coreHost, controllerKey, logLevel, withMetrics } = order;
  const metrics = withMetrics ? await openMetrics('node', nodeMetrics) : undefined;
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
    metrics: metrics?.own,
  });
  started.add(() => runtime.stop());
  // Until then core would answer for every backend that its machine does not answer.
  await Promise.race([runtime.registered, delay(REGISTRATION_PATIENCE, undefined, { ref: false })]);
  return { report: { sandbox: runtime.sandbox, because: runtime.because }, metrics: metrics?.text };
}

runPart(start);
