// The messaging bridge as the commands start it: beside core, or alone on a machine of its own.
import type { createLog } from '@platform/core/log';
import { StartError } from '@platform/core/start';
import { type Bridge, BridgeStartError, startBridge } from '@platform/messaging-bridge';
import type { CollectedMetrics } from '@platform/messaging-bridge/metrics';
import type { BridgeConfig } from './config.ts';

/** @throws StartError */
export async function startBridgeProcess(
  config: BridgeConfig,
  log: ReturnType<typeof createLog>,
  metrics: CollectedMetrics | undefined,
): Promise<Bridge> {
  try {
    return await startBridge({ ...config, log, ...(metrics === undefined ? {} : { metrics }) });
  } catch (error) {
    if (!(error instanceof BridgeStartError)) throw error;
    throw new StartError('messaging_bridge_unusable', error.message, { cause: error });
  }
}

/** The metrics of a bridge, read where they are enabled. */
export async function bridgeMetrics(): Promise<CollectedMetrics> {
  return (await import('@platform/messaging-bridge/metrics')).createBridgeMetrics();
}
