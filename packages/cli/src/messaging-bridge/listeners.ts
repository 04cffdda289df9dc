// Where core and the homeserver reach a messaging bridge, beside core or on a machine of its own.
import type { PlatformConfig } from '@platform/core/config';
import type { PlannedListener } from '../process/listeners.ts';

/** None where no homeserver is configured. */
export function bridgeListeners({ messagingBridge }: Pick<PlatformConfig, 'messagingBridge'>): PlannedListener[] {
  if (messagingBridge.homeserverUrl === null) return [];
  const what = 'the messaging bridge, for core and the homeserver';
  return [{ variable: 'PLATFORM_MESSAGING_BRIDGE_LISTEN', ...messagingBridge.listen, what }];
}
