// Runs the tests after the set-up: which files, Chromium, one PostgreSQL cluster for all of them, node's test runner
// (test/run-files.ts), and an end that leaves no process and no folder behind. `npm test` comes here.

import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmbeddedPostgres } from '@platform/core/embedded-postgres';
import { dyingWithUs } from '@platform/core/start';
import { withDataTemplate } from '../tests/support/data-template.ts';
import { makeClusterFolder, testSettings } from '../tests/support/postgres.ts';
import { installBubblewrap, requireChromium } from './setup/chromium.ts';
import { SetupError, say, step } from './setup/progress.mjs';
import { changedSince, checkoutAt, selectChanged, usesBrowser } from './test/changed.ts';
import { CHECKED_IN, keptDurations, longestFirst, readDurations } from './test/durations.ts';
import { leftOutLines } from './test/left-out.ts';
import { AS_NOBODY, chooseFiles, readRotation, THIRDS } from './test/rotation.ts';
import type { RunRequest } from './test/run-files.ts';
import { cacheFolder, DEVICES, headOf, readRuns, recordRun, type Turn, turnOf } from './test/turn.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const everything = ['packages', 'apps', 'examples', 'tests', 'scripts'];

/** Files at a time; each may start servers or a browser of its own, and waits for them half of its time. */
const CONCURRENCY = 3;
/** Fewer of those that boot virtual machines: an emulated one keeps a processor busy, and has a limit for its boot. */
const MACHINES_AT_A_TIME = 2;
/** For a test that names no limit of its own: what hangs is to end soon, but for large counts, which take their time. */
const TEST_LIMIT_MS = process.env.PLATFORM_TEST_THOROUGH === '1' ? 600_000 : 120_000;
/** Random cases of files that rotate: these, and others at each commit. */
const FIRST_ROTATING_SEED = 20_261_122;
const judged = process.env.CI === 'true';

/** The signal that ended the run, and the children to forward it to. */
let stopSignal: NodeJS.Signals | undefined;
let passOn: (signal: NodeJS.Signals) => void = () => {};

interface Command {
  /** What to run by path, folder or glob; everything when it names none. */
  readonly names: readonly string[];
  /** Only what can notice what changed since `ref`. */
  readonly changed: { readonly ref: string | undefined } | undefined;
  /** Every file, on both devices: no rotation. */
  readonly all: boolean;
  /** Only say which files would run. */
  readonly list: boolean;
  /** Where to write what the run decided, for `.ci/run`. */
  readonly plan: string | undefined;
  /** Where to write what the end of the run says beside the results, for `.ci/run`. */
  readonly end: string | undefined;
  /** Save what each file took in the checkout. */
  readonly record: boolean;
  /** Files at a time, whichever they are. */
  readonly concurrency: number | undefined;
  /** Options of `node --test` for each file. */
  readonly options: readonly string[];
}

function parseCommand(args: readonly string[]): Command {
  const names: string[] = [];
  const options: string[] = [];
  let changed: Command['changed'];
  let all = false;
  let list = false;
  let plan: string | undefined;
  let end: string | undefined;
  let record = false;
  let concurrency: number | undefined;
  const rest = [...args];
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    const [name, value] = arg.split(/=(.*)/s);
    if (name === '--changed') {
      changed = { ref: value ?? (rest[0]?.startsWith('-') === false ? rest.shift() : undefined) };
    } else if (name === '--all') all = true;
    else if (name === '--list') list = true;
    else if (name === '--plan') plan = value;
    else if (name === '--end') end = value;
    else if (name === '--record') record = true;
    else if (name === '--test-concurrency') concurrency = positive(arg, value);
    else if (arg.startsWith('-')) options.push(arg);
    else names.push(arg);
  }
  return { names, changed, all, list, plan, end, record, concurrency, options };
}

function positive(option: string, value: string | undefined): number {
  if (!/^[1-9]\d*$/.test(value ?? '')) throw new SetupError(`${option} needs a number, as in --test-concurrency=2.`);
  return Number(value);
}

async function main(args: readonly string[]): Promise<number> {
  const command = parseCommand(args);
  const { files, turn, leftOut } = selectFiles(command);
  if (files.length === 0) {
    if (command.changed !== undefined) return 0;
    throw new SetupError(`No test file matches ${command.names.join(' ') || 'anything'}.`);
  }
  if (command.list) {
    process.stdout.write([...files, '', ...leftOut].map((line) => `${line}\n`).join(''));
    return 0;
  }
  const full = isFull(command);
  const browser = files.some((file) => usesBrowser(root, file));
  await installBubblewrap();
  const env = {
    ...process.env,
    ...(browser ? { CHROMIUM_PATH: await requireChromium() } : {}),
    ...(turn !== undefined && {
      PLATFORM_TEST_DEVICE: turn.device,
      PLATFORM_TEST_ROTATING_SEED: String(rotatingSeed(turn)),
    }),
  };
  const inOrder = longestFirst(files, readDurations(CHECKED_IN, keptDurations(cacheFolder())));
  const withMachines = inOrder.filter((file) => bootsMachines(file));
  const code = await withRunFolder((folder) =>
    withCluster(withDataTemplate(env, folder), (clusterEnv) =>
      runFiles(
        {
          batches: [
            { files: withMachines, concurrency: command.concurrency ?? MACHINES_AT_A_TIME },
            {
              files: inOrder.filter((file) => !withMachines.includes(file)),
              concurrency: command.concurrency ?? CONCURRENCY,
            },
          ],
          options: command.options,
          testLimit: TEST_LIMIT_MS,
          record: [...(full ? [keptDurations(cacheFolder())] : []), ...(command.record ? [CHECKED_IN] : [])],
          judgeSkips: judged,
          again: judged || full,
          leftOut,
          endFile: command.end,
          usageFile: path.join(folder, 'usage'),
        },
        clusterEnv,
      ),
    ),
  );
  if (code === 0 && full) recordPassed(turn);
  return code;
}

/** Whether the run tries whole files, and all whose turn it is. */
function isFull({ names, changed, options }: Command): boolean {
  return (
    names.length === 0 &&
    changed === undefined &&
    options.length === 0 &&
    process.env.PLATFORM_TEST_SKIP_BROWSER !== '1'
  );
}

function recordPassed(turn: Turn | undefined): void {
  const commit = headOf(root);
  if (commit === undefined) return;
  const tried = turn === undefined ? THIRDS.flatMap((third) => DEVICES.map((device) => ({ third, device }))) : [turn];
  for (const { third, device } of tried) recordRun({ commit, third, device, judged });
}

function rotatingSeed({ number }: Turn): number {
  return FIRST_ROTATING_SEED + number;
}

interface Selected {
  /** From the root of the checkout. */
  readonly files: readonly string[];
  /** Of an ordinary run of everything. */
  readonly turn?: Turn;
  /** What the end of the run says that it left out. */
  readonly leftOut: readonly string[];
}

function selectFiles({ names, changed, all, plan }: Command): Selected {
  const found = everything.flatMap((folder) => find(path.join(root, folder), '**/*.test.ts'));
  const chosen = names.length === 0 ? found : names.flatMap((name) => named(name, found));
  const unique = [...new Set(chosen)].map((file) => path.relative(root, file)).sort();
  if (changed !== undefined) return { files: withoutBrowser(whatNotices(changed.ref, unique)), leftOut: [] };
  if (names.length > 0 || all) {
    if (plan !== undefined) writePlan(plan, { asNobody: true });
    return { files: withoutBrowser(unique), leftOut: [] };
  }
  return whoseTurn(unique, plan);
}

function whoseTurn(files: readonly string[], plan: string | undefined): Selected {
  const turn = turnOf(root, { given: process.env.PLATFORM_TEST_TURN, runs: readRuns(), judged });
  const changed = turn.since === undefined ? [] : changedSince(root, turn.since).files;
  const { chosen, guarding, leftOut } = chooseFiles(files, { rotation: readRotation(), third: turn.third, changed });
  const { third, device, by, since } = turn;
  say(`Third ${third} of ${THIRDS.length} of the files that rotate, pages on a ${device}: ${by}.`);
  if (guarding.length > 0)
    say(`Files of other thirds that guard what changed since ${since?.slice(0, 12)}: ${guarding.length}.`);
  say(`Random cases of files that rotate: PLATFORM_TEST_SEED=${process.env.PLATFORM_TEST_SEED ?? rotatingSeed(turn)}`);
  const asNobody = third === AS_NOBODY.third || changed.some((file) => DIFFERS_AS_NOBODY.test(file));
  if (plan !== undefined) writePlan(plan, { asNobody, device });
  return { files: withoutBrowser(chosen), turn, leftOut: leftOutLines(leftOut, turn) };
}

/** What runs as an ordinary user, and the stories that do. */
const DIFFERS_AS_NOBODY = /^(?:packages\/runtime\/|tests\/stories\/|\.ci\/)/;

/** @param device the only one, where it is one */
function writePlan(file: string, { asNobody, device }: { asNobody: boolean; device?: string }): void {
  fs.writeFileSync(file, `as-nobody=${asNobody ? 'yes' : 'no'}\n${device === undefined ? '' : `device=${device}\n`}`);
}

function withoutBrowser(files: readonly string[]): readonly string[] {
  if (process.env.PLATFORM_TEST_SKIP_BROWSER !== '1') return files;
  const without = files.filter((file) => !usesBrowser(root, file));
  if (without.length < files.length)
    say(`PLATFORM_TEST_SKIP_BROWSER=1: skipping ${files.length - without.length} files of browser tests.`);
  return without;
}

/** Those of `tests` that lean on what changed; says what is left out. */
function whatNotices(ref: string | undefined, tests: readonly string[]): readonly string[] {
  const { since, files } = changedSince(root, ref);
  if (files.length === 0) {
    say(`Nothing changed since ${since}.`);
    return [];
  }
  const {
    tests: chosen,
    leftOut,
    untested,
  } = selectChanged(checkoutAt(root), {
    changed: files,
    tests,
    rotation: readRotation(),
  });
  say(`${files.length} files changed since ${since}: ${chosen.length} test files lean on them.`);
  if (leftOut.length > 0) say(`Left out: ${leftOut.length} test files (${byFolder(leftOut)}).`);
  if (untested.length > 0) say(`No test leans on: ${untested.join(', ')}.`);
  return chosen;
}

function bootsMachines(file: string): boolean {
  return fs.readFileSync(path.join(root, file), 'utf8').includes('/test-support/microvm/');
}

/** `packages/core 12, tests/chaos 3`. */
function byFolder(files: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const file of files) {
    const folder = file.split('/').slice(0, 2).join('/');
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts].map(([folder, count]) => `${folder} ${count}`).join(', ');
}

function named(name: string, all: readonly string[]): string[] {
  const from = process.env.INIT_CWD ?? process.cwd();
  const places = [...new Set([path.resolve(root, name), path.resolve(from, name)])];
  const matching = all.filter((file) =>
    places.some((place) => file === place || file.startsWith(`${place}/`) || path.matchesGlob(file, place)),
  );
  if (matching.length === 0) throw new SetupError(`No test file matches ${name}.`);
  return matching;
}

function find(folder: string, pattern: string): string[] {
  if (!fs.existsSync(folder)) return [];
  const exclude = (entry: fs.Dirent) => entry.name === 'node_modules' || entry.name === 'dist';
  return fs
    .globSync(pattern, { cwd: folder, withFileTypes: true, exclude })
    .map((entry) => path.join(entry.parentPath, entry.name));
}

/** A folder for what the test files of this run share. */
async function withRunFolder(work: (folder: string) => Promise<number>): Promise<number> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'platform-run-'));
  // As root the server's user passes through it.
  fs.chmodSync(folder, 0o711);
  try {
    return await work(folder);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function withCluster(env: NodeJS.ProcessEnv, work: (env: NodeJS.ProcessEnv) => Promise<number>): Promise<number> {
  if (env.PLATFORM_TEST_DATABASE_URL !== undefined) return await work(env);
  const folder = makeClusterFolder();
  try {
    const start = () => startEmbeddedPostgres({ dataDir: folder, log: () => {}, settings: testSettings });
    const server = await step('Starting PostgreSQL for the tests', 'PostgreSQL for the tests started', start);
    try {
      return await work({ ...env, PLATFORM_TEST_DATABASE_URL: server.url });
    } finally {
      await server.stop();
    }
  } finally {
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Resolves with the exit code of the runner. */
function runFiles(request: RunRequest, env: NodeJS.ProcessEnv): Promise<number> {
  if (stopSignal !== undefined) return Promise.resolve(1);
  const runner = [path.join(root, 'scripts/test/run-files.ts'), JSON.stringify(request)];
  // A process group of their own: one signal reaches the runner, its files and their servers, once.
  const child = spawn(...dyingWithUs('TERM', process.execPath, runner), {
    cwd: root,
    env,
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  passOn = (signal) => {
    signalGroup(child.pid, signal);
    setTimeout(() => signalGroup(child.pid, 'SIGKILL'), 5_000).unref();
  };
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => {
      // What a test file forgot to end.
      signalGroup(child.pid, 'SIGKILL');
      resolve(code ?? 1);
    });
  });
}

function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // All its processes have ended already.
  }
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    stopSignal = signal;
    passOn(signal);
  });
}
try {
  const code = await main(process.argv.slice(2));
  // As a shell reports a signal.
  process.exitCode = stopSignal === undefined ? code : 128 + os.constants.signals[stopSignal];
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  say(error.message);
  process.exitCode = 1;
}
