// The settings that a homeserver and the platform need to find each other, to be pasted.
import type { PlatformConfig } from '@platform/core/config';

type Settings = Pick<PlatformConfig, 'messaging' | 'messagingBridge'>;

export function homeserverSettings({ messaging, messagingBridge }: Settings): string {
  return `server_name: ${JSON.stringify(messaging.serverName)}
app_service_config_files:
  - ${JSON.stringify(messagingBridge.registrationFile)}
# The accounts of the platform are the accounts of the homeserver.
enable_registration: false
# Nobody is shown as online.
presence:
  enabled: false
# Leave delete_stale_devices_after unset: the bridge has one device for each account, for good.
`;
}

export function platformSettings({ messaging, messagingBridge }: Settings): string {
  const { listen, homeserverUrl } = messagingBridge;
  const host = listen.host.includes(':') ? `[${listen.host}]` : listen.host;
  const name = messaging.serverName.replace(/:\d+$/, '');
  return `PLATFORM_MESSAGING_SERVER_NAME=${messaging.serverName}
PLATFORM_MESSAGING_HOMESERVER_URL=${homeserverUrl ?? 'http://127.0.0.1:8008'}
PLATFORM_MESSAGING_BRIDGE_URL=${messaging.bridge.kind === 'configured' ? messaging.bridge.url : `http://${host}:${listen.port}`}
PLATFORM_MESSAGING_BRIDGE_TOKEN=<of your own: openssl rand -hex 32>
PLATFORM_MESSAGING_FEDERATION=${messaging.federation ?? `matrix.${name}:8448`}
PLATFORM_MESSAGING_CLIENT_URL=${messaging.clientUrl ?? `https://matrix.${name}`}
`;
}
