// Runs the tests after the set-up: Chromium, one PostgreSQL cluster for all files, node's test runner,
// and an end that leaves no process and no folder behind. `npm test` comes here.

import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { dyingWithUs } from '../packages/core/src/database/embedded/cluster.ts';
import { startEmbeddedPostgres } from '../packages/core/src/database/embedded-postgres.ts';
import { withDataTemplate } from '../tests/support/data-template.ts';
import { makeClusterFolder, testSettings } from '../tests/support/postgres.ts';
import { installBubblewrap, requireChromium } from './setup/chromium.ts';
import { SetupError, say, step } from './setup/progress.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const everything = ['packages', 'apps', 'examples', 'tests', 'scripts'];

/** Files at a time; each may start servers and a browser of its own. More take as long, since two keep two processors busy. */
const concurrency = 2;

/** The signal that asked us to end, and who else must hear of one. */
let asked: NodeJS.Signals | undefined;
let passOn: (signal: NodeJS.Signals) => void = () => {};

async function main(args: readonly string[]): Promise<number> {
  const options = args.filter((arg) => arg.startsWith('-'));
  const names = args.filter((arg) => !arg.startsWith('-'));
  const { files, browser } = selectFiles(names);
  if (files.length === 0) throw new SetupError(`No test file matches ${names.join(' ') || 'anything'}.`);
  await installBubblewrap();
  const env = { ...process.env, ...(browser ? { CHROMIUM_PATH: await requireChromium() } : {}) };
  return await withRunFolder((folder) =>
    withCluster(withDataTemplate(env, folder), (clusterEnv) =>
      runFiles([...options, ...files.map((file) => path.relative(root, file))], clusterEnv),
    ),
  );
}

/**
 * The test files that `asked` names by path, folder or glob, relative to the checkout or to where
 * the person stands; all of them when it names none.
 */
function selectFiles(asked: readonly string[]): { files: string[]; browser: boolean } {
  const all = everything.flatMap((folder) => find(path.join(root, folder), '**/*.test.ts'));
  const chosen = asked.length === 0 ? all : asked.flatMap((name) => named(name, all));
  const unique = [...new Set(chosen)].sort();
  const skip = process.env.PLATFORM_TEST_SKIP_BROWSER === '1';
  const inBrowser = unique.filter(usesBrowser);
  if (!skip || inBrowser.length === 0) return { files: unique, browser: inBrowser.length > 0 };
  say(`PLATFORM_TEST_SKIP_BROWSER=1: skipping ${inBrowser.length} files of browser tests.`);
  return { files: unique.filter((file) => !inBrowser.includes(file)), browser: false };
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

function usesBrowser(file: string): boolean {
  if (file.startsWith(path.join(root, 'tests', 'browser') + path.sep)) return true;
  return /from '(playwright-core|[^']*\/chromium\.ts|[^']*\/browser\.ts)'/.test(fs.readFileSync(file, 'utf8'));
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

const TEST_LIMIT_MS = 600_000;

/** Resolves with the exit code of node's test runner. */
function runFiles(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  if (asked !== undefined) return Promise.resolve(1);
  // A test that waits for what never comes ends as a failure, not as a run without end; long ones say so themselves.
  const runner = ['--test', `--test-concurrency=${concurrency}`, `--test-timeout=${TEST_LIMIT_MS}`, ...args];
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
    // Everybody in it has ended already.
  }
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    asked = signal;
    passOn(signal);
  });
}
try {
  const code = await main(process.argv.slice(2));
  // As a shell reports a signal.
  process.exitCode = asked === undefined ? code : 128 + os.constants.signals[asked];
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  say(error.message);
  process.exitCode = 1;
}
