// Whether the platform of this configuration runs on this machine, for commands that need it to.
import type { PlatformConfig } from '@platform/core/config';
import { StartError } from '@platform/core/start';

const { request } = process.getBuiltinModule('node:http');

/** @throws StartError when no platform answers at the configured address on this machine */
export async function requireRunning({ origin, listenHost, listenPort }: PlatformConfig): Promise<void> {
  const status = await new Promise<number | undefined>((resolve) => {
    const headers = { host: new URL(origin).host };
    const call = request({ host: listenHost, port: listenPort, path: '/v1/health', headers, timeout: 5_000 });
    call.on('response', (response) => resolve(response.resume().statusCode));
    call.on('timeout', () => call.destroy());
    call.on('close', () => resolve(undefined));
    call.on('error', () => resolve(undefined));
    call.end();
  });
  if (status === 200) return;
  throw new StartError(
    'platform_not_running',
    `No platform answers at ${origin} on this machine. Start it in another terminal: npm start`,
  );
}
