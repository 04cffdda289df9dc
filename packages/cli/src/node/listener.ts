// Where browsers reach the backends of a node, beside core or on a machine that joined.
import type { PlatformConfig } from '@platform/core/config';
import { namesPort, type PlannedListener } from '../process/listeners.ts';

export function nodeListener(config: PlatformConfig): PlannedListener {
  const { listenHost: host, nodePort: port, nodeOrigin: origin } = config;
  const variable = namesPort(config, 'PLATFORM_NODE_LISTEN_PORT', origin)
    ? 'PLATFORM_NODE_LISTEN_PORT'
    : 'PLATFORM_NODE_ORIGIN';
  return { variable, what: 'the backends of apps', host, port, origin, isKept: true };
}
