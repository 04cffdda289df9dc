// What a messaging bridge needs of the configuration, and nothing that it must not have: no database, no master key.
import { readFileSync } from 'node:fs';
import type { PlatformConfig } from '@platform/core/config';
import { reasonOf, StartError } from '@platform/core/start';
import type { BridgeOptions } from '@platform/messaging-bridge';
import * as z from 'zod';

/** All that can be handed to a process. */
export type BridgeConfig = Pick<
  BridgeOptions,
  'folder' | 'listen' | 'token' | 'serverName' | 'homeserver' | 'registration'
>;

/** As `platform messaging init` writes it: JSON, which is YAML too, so that the homeserver reads the same file. */
const registrationFile = z.object({
  id: z.string().min(1),
  as_token: z.string().min(1),
  hs_token: z.string().min(1),
});

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
  try {
    const { id, as_token: asToken, hs_token: hsToken } = registrationFile.parse(JSON.parse(readFileSync(file, 'utf8')));
    return { id, asToken, hsToken };
  } catch (error) {
    const reason = error instanceof SyntaxError ? 'it is not JSON' : reasonOf(error);
    throw missing(
      `The registration of the messaging bridge, ${file}, cannot be read (${reason}). Run ./platform messaging init.`,
    );
  }
}

const missing = (message: string) => new StartError('messaging_bridge_unusable', message);
