// What a messaging bridge needs of the configuration, and nothing that it must not have: no database, no master key.
import type { PlatformConfig } from '@platform/core/config';
import { StartError } from '@platform/core/start';
import type { BridgeOptions } from '@platform/messaging-bridge';
import { findRegistration } from './registration.ts';

/** All that can be handed to a process. */
export type BridgeConfig = Pick<
  BridgeOptions,
  'folder' | 'listen' | 'token' | 'serverName' | 'homeserver' | 'registration'
>;

/** @throws StartError for what is missing */
export function bridgeConfig({ messaging, messagingBridge, outbound }: PlatformConfig): BridgeConfig {
  const { homeserverUrl, registrationFile: file, listen, storeDirectory } = messagingBridge;
  const { bridge, serverName } = messaging;
  if (homeserverUrl === null)
    throw missing('PLATFORM_MESSAGING_HOMESERVER_URL is not set. Set it to the address of the homeserver.');
  if (bridge.kind !== 'configured')
    throw missing(
      'The messaging bridge needs PLATFORM_MESSAGING_BRIDGE_URL and PLATFORM_MESSAGING_BRIDGE_TOKEN, as core does. Set both, or unset PLATFORM_MESSAGING_HOMESERVER_URL.',
    );
  return {
    folder: storeDirectory,
    listen,
    token: bridge.token,
    serverName,
    homeserver: { origin: homeserverUrl, ...(outbound.ca === null ? {} : { ca: outbound.ca }) },
    registration: readRegistration(file),
  };
}

function readRegistration(file: string): BridgeConfig['registration'] {
  const found = findRegistration(file);
  if (found.kind !== 'found')
    throw missing(
      `The registration of the messaging bridge, ${file}, ${found.kind === 'missing' ? 'is missing' : found.why}. Run ./platform messaging init.`,
    );
  const { id, as_token: asToken, hs_token: hsToken } = found.registration;
  return { id, asToken, hsToken };
}

const missing = (message: string) => new StartError('messaging_bridge_unusable', message);
