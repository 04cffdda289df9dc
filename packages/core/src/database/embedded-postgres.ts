// Runs the PostgreSQL server from npm as a child process: its cluster is created at the first start, it listens on a
// Unix socket only, and it ends with this process, even when that is killed.

import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { dropBallast, hasRoomToStart } from '../config/ballast.ts';
import { reasonOf, StartError, systemCode } from '../config/start-error.ts';
import { type Patience, untilRestarted, watchDatabase } from './database-watch.ts';
import { prepareBinaries, removeOtherBinaries } from './embedded/binaries.ts';
import { type ClusterPaths, clusterPaths, databaseName, ensureCluster, lastLines } from './embedded/cluster.ts';
import { dyingWithUs } from './embedded/dying-with-us.ts';
import { clearLeftovers, clearSockets, fastShutdownMs, serverProcesses } from './embedded/leftovers.ts';
import {
  asUser,
  changeOwner,
  chooseServerUser,
  ensureFolder,
  giveTo,
  isNobody,
  requireEnterable,
  type ServerUser,
  takeOver,
  type UserMachine,
  usingReserve,
} from './embedded/server-user.ts';
import { type Settings, settingArguments } from './embedded/settings.ts';
import { withConnection } from './with-connection.ts';

export interface EmbeddedPostgresOptions {
  /** The data folder, absolute, existing, and locked by the caller (`openDataFolder`). */
  readonly dataDir: string;
  /** Gets a line when something takes long or was cleaned up. */
  readonly log: (message: string) => void;
  /** Server parameters over the defaults of `embedded/settings.ts`; `fsync: "off"` also skips syncing at creation. */
  readonly settings?: Settings;
  /** As root, the folder for the copy of the programs; default `<dataDir>/postgres`. Used by one start at a time. */
  readonly programsDir?: string;
  /** How long recovery after a crash may take, in ms; default 120,000. */
  readonly startTimeoutMs?: number;
  /** How long it may be silent until it is killed; `exited` then says so. Default: `untilRestarted`. */
  readonly patience?: Patience;
  /** How users are looked up and created; default: those of this machine. */
  readonly users?: UserMachine;
  /** Source of the password; default `crypto.randomBytes`. */
  readonly random?: (bytes: number) => Buffer;
}

export interface EmbeddedPostgres {
  /** Superuser access to the database `platform`, over the Unix socket; holds the password. */
  readonly url: string;
  /** Process id of the server's first process. */
  readonly pid: number;
  /**
   * Settles when the server has ended, whether asked to or not, with a line about how. A server
   * that ends by itself cannot serve again: the platform should stop.
   */
  readonly exited: Promise<string>;
  /** Ends the server, everything written down, within 10 s. Calling it again waits for the same end. */
  stop(): Promise<void>;
}

const longestSocketPath = 107;
const socketName = '.s.PGSQL.5432';
const largestLog = 10 * 1024 * 1024;

/**
 * Starts the server, making its cluster below `<dataDir>/postgres` at the first time.
 *
 * As root it runs as a user of its own (server-user.ts) from a copy of its programs, and every folder
 * above must let that user through. Without a name for that user, setting up needs its own mounts. The server gets a session
 * of its own, so that Ctrl-C reaches only the platform, which ends it after its last query.
 *
 * @throws {StartError} with one line for the operator; it contains PostgreSQL's last output.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { log, settings = {}, random = randomBytes } = options;
  const dataDir = fs.realpathSync(options.dataDir);
  if (dropBallast(dataDir)) log('The disk is full. PostgreSQL starts in space reserved for this. Free some space.');
  const takesReserve = !hasRoomToStart(dataDir);
  const paths = clusterPaths(path.join(dataDir, 'postgres'));
  const user = chooseServerUser(paths.data, options.users);
  ensureFolder(paths.folder, user === undefined ? 0o700 : 0o710);
  if (user !== undefined) {
    // Nobody but root and, by its group, the server's user gets any further.
    changeOwner(paths.folder, 0, user.gid);
    requireEnterable(paths.folder, user);
  }
  if (fs.existsSync(paths.data)) await clearLeftovers(paths.data, log);
  if (user !== undefined) takeOver(paths.data, user);
  const socketFolder = prepareSocketFolder(dataDir, user);
  clearSockets(socketFolder);

  if (!fs.existsSync(paths.data)) log('Setting up PostgreSQL for the first time.');
  const durable = settings.fsync !== 'off';
  const programs = options.programsDir ?? paths.folder;
  const binaries = prepareBinaries(programs, user, { durable });
  const password = await ensureCluster({ paths, binaries, user, durable, random });
  const executable = path.join(binaries.folder, 'bin', 'postgres');
  const run = () =>
    runServer({
      ...{ paths, executable, socketFolder, settings, user, takesReserve, log },
      timeoutMs: options.startTimeoutMs,
    });
  const server = await run().catch(async (error: unknown) => {
    if (!(error instanceof LockTaken)) throw takesReserve ? outOfSpace(error) : error;
    await clearLeftovers(paths.data, log);
    return run();
  });
  const url = `postgres://${databaseName}:${password}@localhost/${databaseName}?host=${encodeURIComponent(socketFolder)}`;
  try {
    await proveLogin(url);
  } catch (error) {
    await server.stop();
    throw error;
  }
  removeOtherBinaries(programs, binaries);
  return { url, ...killedWhenSilent(server, { url, data: paths.data, patience: options.patience ?? untilRestarted }) };
}

/** What to do about a start that failed on a disk without space. */
function outOfSpace(error: unknown): StartError {
  return new StartError(
    'disk_full',
    `The disk of the data folder is full, or what is left of it is reserved for root. Delete files until \`df\` shows 32 MiB available, or let others use the reserve: tune2fs -m 0 <device>. ${reasonOf(error)}`,
    { cause: error },
  );
}

/** A server that hangs is killed with all its processes, as a power cut would: the next start recovers what was acknowledged. */
function killedWhenSilent(
  server: Server,
  { url, data, patience }: { readonly url: string; readonly data: string; readonly patience: Patience },
): Server {
  let wasSilent = false;
  const watch = watchDatabase({
    url,
    patience,
    silent() {
      wasSilent = true;
      // Its first process first: it would replace the others.
      for (const pid of [server.pid, ...serverProcesses(data)]) killProcess(pid);
    },
  });
  const exited = server.exited.then((how) => {
    watch.stop();
    return wasSilent ? `PostgreSQL did not answer ${patience.unanswered} times in a row. ${how}` : how;
  });
  return {
    pid: server.pid,
    exited,
    stop() {
      watch.stop();
      return server.stop();
    },
  };
}

function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (systemCode(error) !== 'ESRCH') throw error;
  }
}

type Server = Omit<EmbeddedPostgres, 'url'>;

interface ServerRun {
  readonly paths: ClusterPaths;
  readonly executable: string;
  readonly socketFolder: string;
  readonly settings: Settings;
  readonly user: ServerUser | undefined;
  /** No other space is left. */
  readonly takesReserve: boolean;
  readonly log: (message: string) => void;
  readonly timeoutMs: number | undefined;
}

/** Starts the server once. What it said when it ended instead is in the error. */
async function runServer(run: ServerRun): Promise<Server> {
  const { paths, log, timeoutMs = 120_000 } = run;
  const logStart = openLog(paths.log);
  const args = ['-D', paths.data, ...settingArguments(run.socketFolder, run.settings)];
  const child = launch(args, run);
  const exited = describeExit(child);
  const stop = stopper(child, exited);
  try {
    await ready(child, exited, { paths, logStart, log, timeoutMs });
  } catch (error) {
    await stop();
    throw error;
  }
  return { pid: child.pid ?? 0, exited, stop };
}

/**
 * The server of a start that was killed wrote its lock only after we had looked for one: it was just beginning.
 * Only the platform starts servers here, and the server's messages are in English whatever the machine's locale.
 */
class LockTaken extends StartError {}

/**
 * The folder of the socket, closed to everyone but the server's user and root. It lies in the data
 * folder, or in the temporary folder where that path is longer than the kernel takes.
 */
function prepareSocketFolder(dataDir: string, user: ServerUser | undefined): string {
  // Not in `<dataDir>/run`, which belongs to other parts and may be closed to the server's user.
  const folder = path.join(dataDir, 'postgres', 'run');
  if (Buffer.byteLength(path.join(folder, socketName)) <= longestSocketPath) {
    ensureFolder(folder, 0o700, user);
    return folder;
  }
  const { dev, ino } = fs.statSync(dataDir);
  const name = `platform-${createHash('sha256').update(`${dev}:${ino}`).digest('hex').slice(0, 16)}`;
  const short = path.join(Buffer.byteLength(tmpdir()) <= 60 ? tmpdir() : '/tmp', name);
  fs.mkdirSync(short, { recursive: true, mode: 0o700 });
  let stat = fs.lstatSync(short);
  if (user !== undefined && stat.isDirectory() && isNobody(stat.uid)) {
    // Of an earlier version's server. Emptied of sockets only, since its owner may put links in.
    clearSockets(short);
    fs.rmdirSync(short);
    fs.mkdirSync(short, { mode: 0o700 });
    stat = fs.lstatSync(short);
  }
  const owners = [process.getuid?.(), user?.uid];
  // Anybody may make folders there: a foreign one, or a link, must not get our password.
  if (!stat.isDirectory() || !owners.includes(stat.uid) || (stat.mode & 0o077) !== 0) {
    throw new StartError(
      'socket_folder_taken',
      `The path of the data folder is too long for a socket, and ${short}, which would be used instead, belongs to another user. Remove it, or choose a shorter PLATFORM_DATA_DIR.`,
    );
  }
  giveTo(short, user);
  return short;
}

/** Returns the size before this start, where this start's lines begin. */
function openLog(file: string): number {
  const stat = fs.statSync(file, { throwIfNoEntry: false });
  if (stat === undefined) return 0;
  if (stat.size <= largestLog) return stat.size;
  fs.truncateSync(file);
  return 0;
}

function launch(args: string[], { executable, paths, user, takesReserve }: ServerRun): ChildProcess {
  const command = dyingWithUs('INT', executable, args);
  const reserve = takesReserve && user !== undefined ? usingReserve(user, command) : null;
  const output = fs.openSync(paths.log, 'a', 0o600);
  try {
    const child = spawn(...(reserve ?? command), {
      ...(reserve === null ? asUser(user) : {}),
      cwd: paths.folder,
      env: { LC_ALL: 'C', PATH: process.env.PATH },
      detached: true,
      stdio: ['ignore', output, output],
    });
    // Its users keep the process alive; the server alone must not.
    child.unref();
    return child;
  } finally {
    fs.closeSync(output);
  }
}

async function describeExit(child: ChildProcess): Promise<string> {
  try {
    const [code, signal] = await once(child, 'exit');
    return signal === null ? `PostgreSQL ended with code ${code}.` : `PostgreSQL was killed by ${signal}.`;
  } catch (error) {
    return `PostgreSQL could not be started: ${reasonOf(error)}.`;
  }
}

function stopper(child: ChildProcess, exited: Promise<string>): () => Promise<void> {
  let stopping: Promise<void> | undefined;
  async function end(): Promise<void> {
    child.ref();
    // SIGINT ends sessions and writes everything down; SIGQUIT leaves it to the next start.
    for (const [signal, waitMs] of [
      ['SIGINT', fastShutdownMs],
      ['SIGQUIT', 1_500],
      ['SIGKILL', 500],
    ] as const) {
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
      child.kill(signal);
      const over = new AbortController();
      await Promise.race([exited, delay(waitMs, undefined, { signal: over.signal }).catch(() => undefined)]);
      over.abort();
    }
  }
  return () => (stopping ??= end());
}

interface Readiness {
  readonly paths: ClusterPaths;
  readonly logStart: number;
  readonly log: (message: string) => void;
  readonly timeoutMs: number;
}

/** Waits for the last line of `postmaster.pid` to say so, as pg_ctl does: cheaper than connecting. */
async function ready(child: ChildProcess, exited: Promise<string>, { paths, logStart, log, timeoutMs }: Readiness) {
  const started = performance.now();
  let nextWord = started + 5_000;
  let ended: string | undefined;
  void exited.then((how) => (ended = how));
  const file = path.join(paths.data, 'postmaster.pid');
  while (!saysReady(file, child.pid)) {
    if (ended !== undefined) {
      const said = fs.readFileSync(paths.log).subarray(logStart).toString('utf8');
      // Looked for in all of it: what a server that is still ending writes may follow.
      const Failure = said.includes('lock file "postmaster.pid" already exists') ? LockTaken : StartError;
      throw new Failure('postgres_failed', `${ended} Its last output: ${lastLines(said)} (more in ${paths.log})`);
    }
    if (performance.now() > started + timeoutMs) {
      throw new StartError(
        'postgres_failed',
        `PostgreSQL was not ready within ${timeoutMs / 1000} s; see ${paths.log}`,
      );
    }
    if (performance.now() > nextWord) {
      nextWord += 5_000;
      log('PostgreSQL is still recovering from a crash; this is normal after a power cut.');
    }
    await delay(10);
  }
}

function saysReady(file: string, pid: number | undefined): boolean {
  let lines: string[];
  try {
    lines = fs.readFileSync(file, 'utf8').split('\n');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    throw error;
  }
  return lines[0] === String(pid) && lines[7]?.trim() === 'ready';
}

async function proveLogin(url: string): Promise<void> {
  try {
    await withConnection({ connectionString: url, connectionTimeoutMillis: 10_000 }, async () => undefined);
  } catch (error) {
    throw new StartError('postgres_failed', `PostgreSQL runs, but refuses the connection: ${reasonOf(error)}`, {
      cause: error,
    });
  }
}
