// The bare engine: the same small server from the same image, on a plain network, and nothing of ours is there.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { insideContainer, labels, openEngine } from '../../packages/runtime/test-support/internals.ts';
import { WORKLOAD } from '../platform/hello-app.ts';

export interface BareDocker {
  /** Milliseconds from the start of `docker run` to the first byte of the server's answer. */
  run(): Promise<number>;
  /** The same by create and start of the engine's API, without the command line. */
  byApi(): Promise<number>;
  close(): Promise<void>;
}

const NETWORK = 'bare';
/** Private, on an engine in a namespace that no packet leaves. */
const SUBNET = '10.213.78.0/29';
const ADDRESS = '10.213.78.2';
const PORT = 8080;
const NAME = 'bare-hello';

/** @param socketPath of an engine on which our base image is */
export async function openBareDocker(socketPath: string): Promise<BareDocker> {
  const engine = await openEngine(socketPath);
  const [base] = await engine.listImages({ filters: { label: [`${labels.role}=base`] } });
  if (base === undefined) throw new Error('The base image is not there.');
  const image = base.Id;
  const network = await engine.createNetwork({ Name: NETWORK, IPAM: { Config: [{ Subnet: SUBNET }] } });
  const folder = mkdtempSync(join(tmpdir(), 'bench-docker-'));
  writeFileSync(join(folder, 'main.mjs'), WORKLOAD);
  const target = `${insideContainer.app}/main.mjs`;
  const source = join(folder, 'main.mjs');

  async function gone(): Promise<void> {
    await engine.getContainer(NAME).remove({ force: true });
  }

  return {
    async run() {
      const begun = performance.now();
      const names = ['--name', NAME, '--network', NETWORK, '--ip', ADDRESS];
      const mount = ['--volume', `${source}:${target}:ro`, '--env', `PORT=${PORT}`];
      const child = spawn(
        'docker',
        ['--host', `unix://${socketPath}`, 'run', ...names, ...mount, image, insideContainer.node, target],
        { stdio: ['ignore', 'ignore', 'ignore'], env: { HOME: folder, PATH: process.env.PATH } },
      );
      const exited = once(child, 'exit');
      while (!(await answers())) {
        if (child.exitCode !== null) throw new Error(`docker run ended with ${child.exitCode}`);
        await delay(1);
      }
      const milliseconds = performance.now() - begun;
      await gone();
      await exited;
      return milliseconds;
    },
    async byApi() {
      const begun = performance.now();
      const container = await engine.createContainer({
        name: NAME,
        Image: image,
        Cmd: [insideContainer.node, target],
        Env: [`PORT=${PORT}`],
        HostConfig: { NetworkMode: NETWORK, Binds: [`${source}:${target}:ro`] },
        NetworkingConfig: { EndpointsConfig: { [NETWORK]: { IPAMConfig: { IPv4Address: ADDRESS } } } },
      });
      await container.start();
      while (!(await answers())) await delay(1);
      const milliseconds = performance.now() - begun;
      await gone();
      return milliseconds;
    },
    async close() {
      await network.remove();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function answers(): Promise<boolean> {
  return new Promise((resolve) => {
    const request = http.get({ host: ADDRESS, port: PORT, path: '/', agent: false, timeout: 100 }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(false));
  });
}
