// The messaging bridge as the commands start it: beside core, or alone on a machine of its own.
import type { createLog } from '@platform/core/log';
import { StartError } from '@platform/core/start';
import { type Bridge, BridgeStartError, startBridge } from '@platform/messaging-bridge';
import type { BridgeConfig } from './config.ts';

/** @throws StartError */
export async function startBridgeProcess(config: BridgeConfig, log: ReturnType<typeof createLog>): Promise<Bridge> {
  try {
    return await startBridge({ ...config, log });
  } catch (error) {
    if (!(error instanceof BridgeStartError)) throw error;
    throw new StartError('messaging_bridge_unusable', error.message, { cause: error });
  }
}

/** The bridge's own metrics are those of its process. */
export const bridgeMetrics = async () => ({ text: async () => '' });
