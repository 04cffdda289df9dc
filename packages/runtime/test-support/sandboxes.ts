// Launches workloads directly, without the rest of the Runtime, for tests of the walls themselves.

import { once } from 'node:events';
import http from 'node:http';
import type { Exit } from '../src/drivers/exit-reason.ts';
import { type LaunchOptions, launch, type Sandbox, type SandboxHost } from '../src/drivers/process/launch.ts';
import type { Way } from '../src/drivers/process/mechanism.ts';
import { openSandboxHost, type SandboxReport } from '../src/drivers/process/sandbox-host.ts';
import { gather } from './gather.ts';

export interface RunningSandbox {
  readonly sandbox: Sandbox;
  readonly output: () => string;
  readonly errors: () => string;
  /** Ends it and gives back everything. */
  end(graceMilliseconds?: number): Promise<Exit>;
  /** Waits for it to end by itself and gives back everything. */
  ended(): Promise<Exit>;
}

export interface SandboxBench {
  readonly host: SandboxHost;
  readonly report: SandboxReport;
  start(options: Partial<LaunchOptions> & Pick<LaunchOptions, 'app'>): Promise<RunningSandbox>;
}

export const TEST_UID = 2_900_001;
export const isRoot = process.getuid?.() === 0;

/** The user a sandbox gets: one of its own as root, otherwise the caller. */
export const sandboxUid = isRoot ? TEST_UID : undefined;

export async function openBench(dataDirectory: string, way: Way): Promise<SandboxBench> {
  const { host, report } = await openSandboxHost({ dataDirectory, ways: way === 'none' ? [] : [way], owner: true });
  let count = 0;
  return {
    host,
    report,
    async start(options) {
      count += 1;
      const gateway = http.createServer((req, res) => res.end(`gateway saw ${req.url}`));
      const sandbox = await launch(host, {
        key: `test-${count}`,
        entry: { path: 'index.mjs', runtime: 'node' },
        ...(sandboxUid === undefined ? {} : { uid: sandboxUid }),
        resources: { memoryMiB: 128, cpus: 1, pids: 64 },
        port: 8080,
        environment: { PORT: '8080' },
        gatewayUrls: { PLATFORM_API_URL: '' },
        attachGateway: async (listener) => {
          gateway.listen(listener);
          await once(gateway, 'listening');
        },
        ...options,
      });
      const output = gather(sandbox.stdout);
      const errors = gather(sandbox.stderr);
      const release = async (exit: Promise<Exit>) => {
        const result = await exit;
        gateway.close();
        gateway.closeAllConnections();
        sandbox.release();
        await Promise.all([output.closed, errors.closed]);
        return result;
      };
      return {
        sandbox,
        output: output.text,
        errors: errors.text,
        end: (grace = 5_000) => release(sandbox.stop(grace)),
        ended: () => release(sandbox.exited),
      };
    },
  };
}

/** One request to the workload through the way in. */
export function ask(sandbox: Sandbox, path = '/'): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = http.get({ socketPath: sandbox.inboundSocket, path, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve(text));
    });
    request.on('error', reject);
  });
}
