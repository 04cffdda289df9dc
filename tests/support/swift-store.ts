// Debian's OpenStack Swift as a real S3 store on loopback. It verifies every signature.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** Debian's packages are Debian's Python's alone. */
export const PYTHON = '/usr/bin/python3';
const SERVE = new URL('./swift/serve.py', import.meta.url).pathname;

/** Why tests cannot use a module of Debian's Python, or `false`. */
export function lacksPython(module: string, debianPackage: string): string | false {
  const found = spawnSync(PYTHON, ['-c', `import ${module}`], { stdio: 'ignore' }).status === 0;
  return found ? false : `needs Debian’s ${debianPackage}`;
}

export interface SwiftStore {
  readonly origin: string;
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  close(): Promise<void>;
}

/** With no bucket in it. `core`: the only processor it may use. */
export async function startSwift({ core }: { readonly core?: number } = {}): Promise<SwiftStore> {
  const folder = await mkdtemp(join(tmpdir(), 'swift-'));
  const credentials = { accessKeyId: 'platform:apps', secretAccessKey: 'canary-swift-secret' };
  const region = 'eu-test-1';
  const pinned = core === undefined ? [] : ['taskset', '-c', String(core)];
  const [program = PYTHON, ...first] = [...pinned, PYTHON];
  const child = spawn(
    program,
    [...first, SERVE, folder, credentials.accessKeyId, credentials.secretAccessKey, region],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  const port = await firstLine(child);
  return {
    origin: `http://127.0.0.1:${port}`,
    region,
    credentials,
    async close() {
      const ended = child.exitCode === null ? once(child, 'exit') : null;
      child.stdin?.end();
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('Swift has no output');
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error('Swift ended before it served');
}
