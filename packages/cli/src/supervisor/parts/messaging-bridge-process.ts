// The process of the messaging bridge.
import { createLog } from '@platform/core/log';
import { bridgeMetrics, startBridgeProcess } from '../../messaging-bridge/start-bridge.ts';
import { openMetrics } from '../../process/metrics.ts';
import type { Started } from '../../process/running.ts';
import { runPart, type Serving } from '../run-part.ts';
import type { MessagingBridgeOrder } from './messaging-bridge.ts';

async function start(order: MessagingBridgeOrder, started: Started): Promise<Serving<null>> {
  const { config, logLevel, withMetrics } = order;
  const metrics = withMetrics ? await openMetrics('messaging bridge', bridgeMetrics) : undefined;
  const bridge = await startBridgeProcess(config, createLog(logLevel), metrics?.own);
  started.add(() => bridge.close());
  return { report: null, metrics: metrics?.text };
}

runPart(start);
