// The messaging bridge as a part, where a homeserver is configured: it has the keys of accounts, and neither the database nor
// the master key.
import type { LogLevel } from '@platform/core/log';
import type { BridgeConfig } from '../../messaging-bridge/config.ts';
import { bridgeListeners } from '../../messaging-bridge/listeners.ts';
import type { ProgramPart } from '../part.ts';

export interface MessagingBridgeOrder {
  readonly config: BridgeConfig;
  readonly logLevel: LogLevel;
  readonly withMetrics: boolean;
}

export const messagingBridge: ProgramPart<'Messaging bridge', null, MessagingBridgeOrder> = {
  name: 'Messaging bridge',
  program: new URL('./messaging-bridge-process.ts', import.meta.url),
  isConfigured: ({ messagingBridge: { homeserverUrl } }) => homeserverUrl !== null,
  async order({ config }) {
    const { bridgeConfig } = await import('../../messaging-bridge/config.ts');
    return {
      config: bridgeConfig(config),
      logLevel: config.logLevel,
      withMetrics: config.metricsListen !== null,
    };
  },
  listeners: bridgeListeners,
  greeting({ config: { messagingBridge } }) {
    const { homeserverUrl } = messagingBridge;
    return homeserverUrl === null ? {} : { facts: [{ label: 'Homeserver', value: homeserverUrl }] };
  },
};
