// The image that workloads of runtime `node` and all Gateways run in, made of this machine's own files: Node, a shell, and
// the libraries that they load. No registry is asked. Its name is the hash of what is in it, so it is made once.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { type Pack, pack } from 'tar-stream';
import { type Engine, isGone, labels } from './engine.ts';

/** Paths inside the containers. */
export const insideContainer = {
  node: '/opt/platform/bin/node',
  app: '/app',
  volume: '/volume',
  temporary: '/tmp',
  gatewayProgram: '/opt/platform/gateway.mjs',
  gatewayFolder: '/run/platform/gateway',
  coreFolder: '/run/platform/core',
  tunnelFolder: '/run/platform/tunnel',
  /** Of the engine, which mounts it where `Init` is asked for. */
  init: '/sbin/docker-init',
} as const;

const REPOSITORY = 'platform-base';
/** Of the host's, so that what scripts take for granted is there. */
const TOOLS = [
  ...['sh', 'env', 'cat', 'chmod', 'cp', 'cut', 'date', 'echo', 'grep', 'head', 'id', 'ln', 'ls', 'mkdir', 'mv', 'rm'],
  ...['sed', 'sleep', 'sort', 'tail', 'touch', 'tr', 'true', 'false', 'uname', 'wc'],
];
const TOOL_FOLDERS = ['/bin', '/usr/bin'];
const FOLDERS = [
  ...['app', 'volume', 'tmp', 'proc', 'sys', 'dev', 'etc', 'run', 'run/platform'],
  ...['run/platform/gateway', 'run/platform/core', 'opt', 'opt/platform', 'opt/platform/bin', 'bin'],
];
/** Mount points of files must be there, since the root is read-only. */
const FILES: Readonly<Record<string, string>> = {
  'etc/passwd': 'root:x:0:0:root:/:/usr/sbin/nologin\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n',
  'etc/group': 'root:x:0:\nnogroup:x:65534:\n',
  'etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
  'opt/platform/gateway.mjs': '',
};

/** A file of this machine and where it goes. */
interface Part {
  readonly source: string;
  readonly target: string;
  readonly bytes: number;
}

/** Makes the image unless it is there, and returns its name. */
export async function ensureBaseImage(engine: Engine, node: string = process.execPath): Promise<string> {
  const parts = await closure([
    { source: node, target: insideContainer.node },
    ...TOOLS.flatMap((name) => {
      const source = TOOL_FOLDERS.map((folder) => `${folder}/${name}`).find(existsSync);
      return source === undefined ? [] : [{ source, target: `/bin/${name}` }];
    }),
  ]);
  const tag = await contentHash(parts);
  const name = `${REPOSITORY}:${tag}`;
  try {
    await engine.getImage(name).inspect();
    return name;
  } catch (error) {
    if (!isGone(error)) throw error;
  }
  const archive = pack();
  const body = new PassThrough();
  archive.pipe(body);
  const [progress] = await Promise.all([
    engine.importImage(body, { repo: REPOSITORY, tag, changes: [`LABEL ${labels.role}=base`] }),
    write(archive, parts),
  ]);
  await followed(engine, progress);
  return name;
}

/** Reads the engine's progress to its end. @throws Error with the engine's own words when it failed */
export async function followed(engine: Engine, progress: NodeJS.ReadableStream): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    engine.modem.followProgress(progress, (error: Error | null, messages: readonly object[] | null) => {
      const failed = messages?.find((message) => 'error' in message);
      if (error !== null) reject(error);
      else if (failed !== undefined && 'error' in failed) reject(new Error(String(failed.error)));
      else resolve();
    });
  });
}

const run = promisify(execFile);

/** The programs and every library that the loader would bring for them. */
async function closure(programs: readonly { readonly source: string; readonly target: string }[]): Promise<Part[]> {
  const targets = new Map<string, string>();
  const { stdout } = await run(
    'ldd',
    programs.map(({ source }) => source),
    {
      env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
    },
  );
  for (const [library] of stdout.matchAll(/\/\S+/g)) {
    if (!library.endsWith(':')) targets.set(library, await realpath(library));
  }
  // The programs last: what one loads may be named like another.
  for (const { source, target } of programs) targets.set(target, await realpath(source));
  const parts = [...targets].map(async ([target, source]) => ({ source, target, bytes: (await stat(source)).size }));
  return (await Promise.all(parts)).sort((left, right) => (left.target < right.target ? -1 : 1));
}

async function contentHash(parts: readonly Part[]): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify([FOLDERS, FILES]));
  for (const { source, target, bytes } of parts) {
    hash.update(`\n${target} ${bytes}\n`);
    for await (const chunk of createReadStream(source)) hash.update(chunk);
  }
  return hash.digest('hex').slice(0, 32);
}

async function write(archive: Pack, parts: readonly Part[]): Promise<void> {
  const made = new Set<string>();
  const folder = (path: string) => {
    if (path === '' || made.has(path)) return;
    folder(path.slice(0, Math.max(0, path.lastIndexOf('/'))));
    made.add(path);
    archive.entry({ name: path, type: 'directory', mode: path === 'tmp' ? 0o1777 : 0o755, mtime: new Date(0) });
  };
  for (const path of FOLDERS) folder(path);
  for (const [name, content] of Object.entries(FILES))
    archive.entry({ name, mode: 0o644, mtime: new Date(0) }, content);
  for (const { source, target, bytes } of parts) {
    const name = target.slice(1);
    folder(name.slice(0, name.lastIndexOf('/')));
    const entry = archive.entry({ name, mode: 0o755, size: bytes, mtime: new Date(0) });
    await pipeline(createReadStream(source), entry);
  }
  archive.finalize();
}
