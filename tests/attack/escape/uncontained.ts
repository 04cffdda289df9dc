// The hostile workload where no wall stands: as a plain process of this machine, or as root in namespaces of its own.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { request, runInside } from '../../../packages/runtime/test-support/conformance/bench.ts';
import type { Place } from '../../../packages/runtime/test-support/place.ts';
import { until } from '../../support/wait.ts';
import { type Call, type ProgramOutput, programOf, readOutput } from './machine-code.ts';
import type { Hostile } from './run-way.ts';

export interface Uncontained extends Hostile {
  close(): Promise<void>;
}

/** Everything that root makes or breaks in these ends with the process. Its `/proc` shows no process of the host. */
const OWN_NAMESPACES = ['--mount', '--net', '--uts', '--ipc', '--pid', '--fork', '--mount-proc', '--kill-child=KILL'];
/** In the process namespace above: a process that may be harmed. */
export const VICTIM = 2;

let count = 0;

/** @param uid As root: the user that it runs as. */
export function startAsUser(place: Place, uid: number | undefined): Promise<Uncontained> {
  // That user may not be able to enter the folder of this checkout.
  const node = join(place.folder, 'node');
  copyFileSync(process.execPath, node);
  chmodSync(node, 0o755);
  return start(place, [node], uid === undefined ? {} : { uid, gid: uid });
}

export function startAsRoot(place: Place): Promise<Uncontained> {
  const shell = ['/bin/sh', '-c', 'sleep 1000 & "$@"; exit', 'root', process.execPath];
  return start(place, ['unshare', ...OWN_NAMESPACES, '--', ...shell], {});
}

async function start(
  place: Place,
  command: readonly string[],
  user: { uid?: number; gid?: number },
): Promise<Uncontained> {
  count += 1;
  const folder = join(place.folder, `uncontained-${count}`);
  const volume = join(place.folder, 'volumes', `uncontained-${count}`);
  for (const path of [folder, volume]) {
    mkdirSync(path, { mode: 0o755, recursive: true });
    if (user.uid !== undefined) chownSync(path, user.uid, user.uid);
  }
  const entry = join(folder, 'index.mjs');
  copyFileSync(
    new URL('../../../packages/runtime/test-support/conformance/workloads/subject.mjs', import.meta.url),
    entry,
  );
  chmodSync(entry, 0o644);
  if (user.uid !== undefined) chownSync(entry, user.uid, user.uid);
  const socketPath = join(folder, 'subject.sock');
  const [program = '', ...rest] = command;
  const child = spawn(program, [...rest, entry], {
    env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LISTEN: socketPath, PLATFORM_VOLUME_DIR: volume },
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: folder,
    ...user,
  });
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString('utf8');
  });
  await until('it to listen', () => output.includes('up') || child.exitCode !== null);
  const ask = (path: string, body?: string) => request({ socketPath }, path, body);
  return {
    run: (probe, ...args) => runInside(ask, probe, args),
    call: (path) => ask(path).catch(() => ({ status: undefined, headers: {}, text: '' })),
    output: () => output,
    close: () => end(child),
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

/** System calls of root, in namespaces that end with them. */
export function callAsRoot(place: Place, calls: readonly Call[]): ProgramOutput | undefined {
  count += 1;
  const program = join(place.folder, `program-${count}`);
  writeFileSync(program, Buffer.from(programOf(calls), 'base64'), { mode: 0o755 });
  const script = 'sleep 30 >/dev/null 2>&1 & "$1"; exit';
  const { stdout } = spawnSync('unshare', [...OWN_NAMESPACES, '--', '/bin/sh', '-c', script, 'root', program], {
    timeout: 10_000,
    killSignal: 'SIGKILL',
  });
  return readOutput(calls, stdout.toString('base64'));
}

/** Why root can do less here than root can; undefined when nothing is in the way. */
export function missingForRoot(): string | undefined {
  if (process.getuid?.() !== 0) return 'needs root, to show what the walls keep from it: run the tests with sudo';
  const { status } = spawnSync('unshare', [...OWN_NAMESPACES, '--', 'mount', '-t', 'tmpfs', 'none', '/mnt']);
  return status === 0 ? undefined : 'needs a root that may make namespaces and mount: run outside of a container';
}
