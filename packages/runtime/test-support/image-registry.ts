// A real registry of images on a free port of loopback, with its files in a temporary folder: Debian's docker-registry.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../../tests/support/wait.ts';
import { findProgram } from '../src/find-program.ts';
import { digestOf, manifestType, type TestImage } from './image-archive.ts';

export interface TestRegistry {
  /** `127.0.0.1:<port>` */
  readonly host: string;
  /** @returns how a package names the image */
  push(repository: string, image: TestImage): Promise<string>;
  stop(): Promise<void>;
}

/** Why there can be none here, or false. */
export function registryMissing(): string | false {
  return findProgram('docker-registry') === undefined
    ? 'apt-get install docker-registry (its service need not run)'
    : false;
}

export async function startRegistry(): Promise<TestRegistry> {
  const program = findProgram('docker-registry');
  if (program === undefined) throw new Error(String(registryMissing()));
  const folder = mkdtempSync(join(tmpdir(), 'pr-'));
  const config = join(folder, 'config.json');
  // JSON is YAML too, which is what it reads.
  writeFileSync(
    config,
    JSON.stringify({
      version: '0.1',
      log: { level: 'info', accesslog: { disabled: true } },
      storage: { filesystem: { rootdirectory: join(folder, 'data') } },
      http: { addr: '127.0.0.1:0', secret: 'of a test' },
    }),
  );
  const child = spawn(program, ['serve', config], { stdio: ['ignore', 'ignore', 'pipe'], env: {} });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString('utf8');
  });
  const host = await until('the registry to listen', () => /listening on (127\.0\.0\.1:\d+)/.exec(said)?.[1]).catch(
    async (error: unknown) => {
      await end(child, folder);
      throw new Error(`${error} It said: ${said}`);
    },
  );
  return {
    host,
    async push(repository, image) {
      const base = `http://${host}/v2/${repository}`;
      for (const blob of [image.config, image.layer]) {
        const begun = await fetch(`${base}/blobs/uploads/`, { method: 'POST' });
        const to = new URL(begun.headers.get('location') ?? '', base);
        to.searchParams.set('digest', digestOf(blob));
        await expect(fetch(to, { method: 'PUT', body: new Uint8Array(blob) }));
      }
      const digest = digestOf(image.manifest);
      const body = new Uint8Array(image.manifest);
      const headers = { 'content-type': manifestType };
      await expect(fetch(`${base}/manifests/${digest}`, { method: 'PUT', body, headers }));
      return `${host}/${repository}@${digest}`;
    },
    stop: () => end(child, folder),
  };
}

async function expect(answering: Promise<Response>): Promise<void> {
  const answer = await answering;
  if (answer.status !== 201) throw new Error(`the registry answered ${answer.status}: ${await answer.text()}`);
  await answer.body?.cancel();
}

async function end(child: ChildProcess, folder: string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }
  rmSync(folder, { recursive: true, force: true });
}
