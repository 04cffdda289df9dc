// A dockerd of a test's own: in a network namespace that nothing leads out of, with all its files in a temporary
// folder.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../../tests/support/wait.ts';
import { identify } from '../src/drivers/process/process-tree.ts';
import { unmountBelow } from './unmount.ts';

export interface TestEngine {
  readonly socketPath: string;
  /** What it keeps. */
  readonly folder: string;
  /** File of the namespace in which it makes its bridges. */
  readonly networkNamespace: string;
  start(): Promise<void>;
  /** Ends it as it is, with everything that it was doing. Its containers may live on until it is back. */
  kill(): Promise<void>;
  /** Lets it take connections and answer none. */
  freeze(): void;
  thaw(): void;
  /** Ids of the containers whose shims run, the engine's own or forgotten by it. */
  shims(): string[];
  /** Ends it and removes everything. */
  remove(): Promise<void>;
}

const PROGRAMS = {
  dockerd: 'docker.io',
  containerd: 'docker.io',
  nft: 'nftables',
  ip: 'iproute2',
  nsenter: 'util-linux',
};
const FOLDERS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];
const START_LIMIT = 60_000;

/** Why there can be no engine here, or false. */
export function engineMissing(): string | false {
  if (process.getuid?.() !== 0) return 'dockerd needs root: run the tests as root';
  const lacking = Object.entries(PROGRAMS).filter(([name]) => !FOLDERS.some((folder) => isProgram(join(folder, name))));
  const packages = [...new Set(lacking.map(([, from]) => from))];
  return packages.length === 0 ? false : `apt-get install ${packages.join(' ')} (its service need not run)`;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Not yet started: the places are known before, so that tests can be declared.
 * @param place `ours` puts its bridges into the network namespace of the test. Default: one of its own.
 */
export function prepareEngine(place: 'its own' | 'ours' = 'its own'): TestEngine {
  const folder = mkdtempSync(join(tmpdir(), 'pd-'));
  const name = `pd-${process.pid}`;
  const networkNamespace = place === 'ours' ? '/proc/self/ns/net' : `/run/netns/${name}`;
  const socketPath = join(folder, 'docker.sock');
  const log = join(folder, 'log');
  let child: ChildProcess | undefined;

  /** Again when it gave up, as the machine's service manager would: on a busy machine it may not wait long enough. */
  function launch(): void {
    const config = join(folder, 'daemon.json');
    writeFileSync(config, '{}');
    mkdirSync(join(folder, 'exec'), { recursive: true });
    forgetDeadHelper(join(folder, 'exec', 'containerd', 'containerd.pid'));
    const output = openSync(log, 'a');
    child = spawn(
      'setpriv',
      [
        ...['--pdeathsig', 'TERM', 'nsenter', `--net=${networkNamespace}`, 'dockerd', '--config-file', config],
        ...['--data-root', join(folder, 'data'), '--exec-root', join(folder, 'exec')],
        ...['--pidfile', join(folder, 'pid'), '--host', `unix://${socketPath}`],
        ...['--bridge=none', '--userland-proxy=false', '--shutdown-timeout=1'],
      ],
      { stdio: ['ignore', output, output] },
    );
  }

  const hasEnded = () => child === undefined || child.exitCode !== null || child.signalCode !== null;

  async function end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    if (child === undefined || hasEnded()) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    // Should it be frozen.
    child.kill('SIGCONT');
    await gone;
  }

  return {
    socketPath,
    folder,
    networkNamespace,
    async start() {
      if (place === 'its own' && spawnSync('ip', ['netns', 'pids', name]).status !== 0) {
        run('ip', ['netns', 'add', name]);
        run('ip', ['-n', name, 'link', 'set', 'lo', 'up']);
      }
      launch();
      const isUp = async () => {
        if (hasEnded()) launch();
        return await answers(socketPath);
      };
      await until('dockerd to answer', isUp, START_LIMIT).catch((error: unknown) => {
        throw new Error(`${error} dockerd said: ${readFileSync(log, 'utf8').slice(-2_000)}`);
      });
    },
    kill: () => end('SIGKILL'),
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    shims: () => commands().flatMap((words) => idOfShim(words, folder) ?? []),
    async remove() {
      await end('SIGTERM');
      if (place === 'its own') spawnSync('ip', ['netns', 'delete', name]);
      // One that was killed leaves its data folder mounted on itself.
      unmountBelow(folder);
      rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
}

/**
 * dockerd waits for a containerd that died with it until it is reaped, and some init processes reap slowly.
 */
function forgetDeadHelper(pidFile: string): void {
  if (existsSync(pidFile) && identify(Number(readFileSync(pidFile, 'utf8'))) === undefined) rmSync(pidFile);
}

/** Arguments of every process of this machine. */
function commands(): string[][] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      } catch {
        // It has ended meanwhile.
        return [];
      }
    });
}

/** As containerd starts one for each container, with the address of its own socket. */
function idOfShim(words: readonly string[], folder: string): string | undefined {
  const isOurs = words[0]?.includes('containerd-shim') === true && words.some((word) => word.startsWith(`${folder}/`));
  return isOurs ? words[words.indexOf('-id') + 1] : undefined;
}

function run(program: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`);
}

function answers(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const ping = http.get({ socketPath, path: '/_ping', agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    ping.on('error', () => resolve(false));
  });
}
