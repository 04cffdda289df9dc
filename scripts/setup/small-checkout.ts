// A small checkout with the real set-up and stand-ins for what it prepares and starts.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

/** The folder of the scripts, from here. */
const scripts = fileURLToPath(new URL('..', import.meta.url));

/** Listens to signals, says what it got, then does what its first argument says. */
const platform = `
  import { homedir } from 'node:os';
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => { console.log(signal); process.exit(7); });
  }
  console.log(JSON.stringify(process.argv.slice(2)));
  if (process.argv[3] === 'home') console.log(homedir());
  else if (process.argv[3] === 'stay') setInterval(() => {}, 1e6);
  else process.exitCode = Number(process.argv[3] ?? 0);
`;

/** Notes that it ran, and waits for the file "go" where a test made "wait". */
const build = `
  import * as fs from 'node:fs';
  import { setTimeout as delay } from 'node:timers/promises';
  fs.appendFileSync('builds', 'built\\n');
  if (fs.existsSync('broken')) throw new Error('the build is broken');
  while (fs.existsSync('wait')) await delay(5);
  fs.mkdirSync('packages/shell/dist', { recursive: true });
  fs.writeFileSync('packages/shell/dist/index.html', 'built');
`;

export interface Checkout {
  readonly root: string;
  builds(): number;
}

/** A checkout with the real set-up and stand-ins for what it prepares and starts. */
export function checkout(t: TestContext): Checkout {
  const root = fs.mkdtempSync(path.join(tmpdir(), 'platform checkout '));
  t.after(() => fs.rmSync(root, { recursive: true, force: true, maxRetries: 5 }));
  fs.cpSync(scripts, path.join(root, 'scripts'), { recursive: true });
  fs.copyFileSync(path.join(scripts, '..', 'platform'), path.join(root, 'platform'));
  const files = {
    'package.json': '{ "name": "checkout", "version": "1.0.0", "type": "module" }',
    'package-lock.json':
      '{ "name": "checkout", "version": "1.0.0", "lockfileVersion": 3, "packages": { "": { "name": "checkout", "version": "1.0.0" } } }',
    'node_modules/.package-lock.json': '{ "packages": {} }',
    'packages/shell/build.ts': build,
    'packages/cli/src/main.ts': platform,
    'apps/example/index.ts': 'export {};',
  };
  for (const [name, content] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    fs.writeFileSync(path.join(root, name), content);
  }
  const log = path.join(root, 'builds');
  return {
    root,
    builds: () => (fs.existsSync(log) ? fs.readFileSync(log, 'utf8').trim().split('\n').length : 0),
  };
}

export interface StartOptions {
  readonly args?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly nodeOptions?: readonly string[];
}

export function start(
  t: TestContext,
  { root }: Checkout,
  { args = [], env = {}, nodeOptions = [] }: StartOptions = {},
) {
  const { npm_lifecycle_event: _, ...inherited } = process.env;
  const child = spawn(process.execPath, [...nodeOptions, path.join(root, 'scripts/platform.mjs'), 'start', ...args], {
    cwd: tmpdir(),
    env: { ...inherited, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  const ended = Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]).then(
    ([[code, signal], out, err]) => ({ code, signal, out, err }),
  );
  return { child, ended };
}
