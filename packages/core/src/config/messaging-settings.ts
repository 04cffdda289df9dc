// Messaging: the server name in the addresses of accounts, the bridge to Matrix, and what core answers other servers and clients.
import * as path from 'node:path';
import { isServerName } from '@platform/contract';
import type { CoreConfig } from './config.ts';
import { type AddressAndPort, absolutePath, addressAndPortOf, isLoopback, type Read, wrong } from './variables.ts';

type Messaging = CoreConfig['messaging'];

const NAME = 'PLATFORM_MESSAGING_SERVER_NAME';
const URL_NAME = 'PLATFORM_MESSAGING_BRIDGE_URL';
const TOKEN_NAME = 'PLATFORM_MESSAGING_BRIDGE_TOKEN';
const FEDERATION = 'PLATFORM_MESSAGING_FEDERATION';
const CLIENT = 'PLATFORM_MESSAGING_CLIENT_URL';
const HOMESERVER = 'PLATFORM_MESSAGING_HOMESERVER_URL';

export interface MessagingBridgeSettings {
  /** The client-server API of its homeserver; `null` where this machine runs no bridge. */
  readonly homeserverUrl: string | null;
  readonly registrationFile: string;
  readonly listen: AddressAndPort;
  readonly storeDirectory: string;
}

/** @param origin of the shell */
export function readMessagingSettings(read: Read, origin: string): Pick<CoreConfig, 'messaging'> {
  const value = read(NAME) ?? new URL(origin).hostname;
  const serverName = value.toLowerCase();
  if (!isServerName(serverName))
    throw wrong(NAME, `is "${value}"`, 'set the name in addresses of accounts, a host name such as example.com');
  return {
    messaging: {
      serverName,
      bridge: readBridge(read),
      federation: readFederation(read),
      clientUrl: readWebAddress(read, CLIENT, 'https://matrix.example.com'),
    },
  };
}

export function readMessagingBridge(read: Read, dataDirectory: string): MessagingBridgeSettings {
  const pathOf = (name: 'PLATFORM_MESSAGING_REGISTRATION_FILE' | 'PLATFORM_MESSAGING_STORE_DIR', usual: string) =>
    absolutePath(name, read(name) ?? path.join(dataDirectory, usual));
  return {
    homeserverUrl: readWebAddress(read, HOMESERVER, 'http://127.0.0.1:8008'),
    registrationFile: pathOf('PLATFORM_MESSAGING_REGISTRATION_FILE', 'messaging/registration.yaml'),
    listen: listenOf(read),
    storeDirectory: pathOf('PLATFORM_MESSAGING_STORE_DIR', 'messaging'),
  };
}

function listenOf(read: Read): AddressAndPort {
  return addressAndPortOf(read, 'PLATFORM_MESSAGING_BRIDGE_LISTEN') ?? { host: '127.0.0.1', port: 8390 };
}

/** What the start says of settings with which nobody can write messages. */
export function messagingNotices({ bridge }: Messaging): string[] {
  if (bridge.kind !== 'incomplete') return [];
  const set = bridge.missing === URL_NAME ? TOKEN_NAME : URL_NAME;
  return [`${set} is set, and ${bridge.missing} is not: messaging is unavailable. Set both, or neither.`];
}

function readBridge(read: Read): Messaging['bridge'] {
  const address = readWebAddress(read, URL_NAME, 'https://bridge.example.net');
  const token = read(TOKEN_NAME);
  if (token !== undefined && !/^[!-~]{32,1024}$/.test(token))
    throw wrong(TOKEN_NAME, 'is too short or has blanks', 'set 32 to 1,024 visible ASCII characters');
  if (address === null && token === undefined) return { kind: 'none' };
  if (address === null) return { kind: 'incomplete', missing: URL_NAME };
  if (token === undefined) return { kind: 'incomplete', missing: TOKEN_NAME };
  return { kind: 'configured', url: address, token };
}

/** Without a slash at its end. */
function readWebAddress(
  read: Read,
  name: typeof URL_NAME | typeof CLIENT | typeof HOMESERVER,
  example: string,
): string | null {
  const value = read(name);
  if (value === undefined) return null;
  const url = URL.canParse(value) ? new URL(value) : null;
  const isPlain = url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (!isPlain || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    throw wrong(name, 'is no address that can be used', `set it like ${example}`);
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    throw wrong(
      name,
      `is "${value}", over http to another machine`,
      'use https; PLATFORM_OUTBOUND_CA_FILE names an authority of your own',
    );
  return url.href.replace(/\/+$/, '');
}

function readFederation(read: Read): string | null {
  const value = read(FEDERATION);
  if (value === undefined) return null;
  if (!isServerName(value.toLowerCase()) || !/:[0-9]{1,5}$/.test(value))
    throw wrong(FEDERATION, `is "${value}"`, 'set a host and a port, such as matrix.example.com:8448');
  return value.toLowerCase();
}
