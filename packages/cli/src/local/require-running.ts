// Whether the platform of this configuration runs on this machine, for commands that need it to.
import type { PlatformConfig } from '@platform/core/config';
import { StartError } from '@platform/core/start';
import { runningParts } from './instance.ts';

const { request } = process.getBuiltinModule('node:http');

/**
 * @throws StartError `platform_not_running` when no platform answers at the configured address on this machine,
 *   `platform_restarting` while a part of the running one is being restarted, or `platform_not_answering` when it runs
 *   and core does not answer within five seconds
 */
export async function requireRunning({ origin, listenHost, listenPort, dataDirectory }: PlatformConfig): Promise<void> {
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
  const parts = runningParts(dataDirectory);
  const restarting = parts.find(({ pid }) => pid === null);
  if (restarting !== undefined) {
    throw new StartError(
      'platform_restarting',
      `${restarting.name} is being restarted. Last exit: ${restarting.lastExit ?? 'unknown'} Try again in a moment.`,
    );
  }
  if (parts.length > 0) {
    throw new StartError(
      'platform_not_answering',
      status === undefined
        ? `The platform is running, but core does not answer at ${origin}. The platform restarts it after half a minute; the output of npm start says more.`
        : `The platform is running, but core is not ready: GET /v1/health answered ${status}. The output of npm start says why.`,
    );
  }
  throw new StartError(
    'platform_not_running',
    `No platform answers at ${origin} on this machine, with the data folder ${dataDirectory}. Start it in another terminal: npm start`,
  );
}
