// Messaging: the server name in the addresses of accounts.
import { isServerName } from '@platform/contract';
import type { CoreConfig } from './config.ts';
import { type Read, wrong } from './variables.ts';

export type MessagingSettings = Pick<CoreConfig, 'messaging'>;

const NAME = 'PLATFORM_MESSAGING_SERVER_NAME';

/** @param origin of the shell */
export function readMessagingSettings(read: Read, origin: string): MessagingSettings {
  const value = read(NAME) ?? new URL(origin).hostname;
  const serverName = value.toLowerCase();
  if (!isServerName(serverName))
    throw wrong(NAME, `is "${value}"`, 'set the name in addresses of accounts, a host name such as example.com');
  return { messaging: { serverName } };
}
