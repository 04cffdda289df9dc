// Promises of `npm start` and `./platform` before the platform runs, each against a small checkout of its own: only what
// is needed is done, once, and signals, exit codes and failures come through.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import * as fs from 'node:fs';
import * as https from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import * as path from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { certificateFor } from '../../tests/support/tls-front.ts';

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

interface Checkout {
  readonly root: string;
  builds(): number;
}

/** A checkout with the real set-up and stand-ins for what it prepares and starts. */
function checkout(t: TestContext): Checkout {
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

interface StartOptions {
  readonly args?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly nodeOptions?: readonly string[];
}

function start(t: TestContext, { root }: Checkout, { args = [], env = {}, nodeOptions = [] }: StartOptions = {}) {
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

async function says(child: ChildProcess, words: string): Promise<void> {
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      if (String(chunk).includes(words)) child.emit('said');
    });
  }
  await once(child, 'said');
}

/** Without `process.execve` the set-up must stay as the parent, as on Node 20. */
const withoutExecve = ['--import', 'data:text/javascript,delete process.execve'];

test('a ready checkout goes straight to the platform, without npm and without a build', async (t) => {
  const place = checkout(t);
  await start(t, place).ended;
  const onlyFlock = path.join(place.root, 'bin');
  fs.mkdirSync(onlyFlock);
  const { code, out, err } = await start(t, place, { args: ['3', 'x y'], env: { PATH: onlyFlock } }).ended;
  assert.deepEqual({ code, out, err }, { code: 3, out: '["start","3","x y"]\n', err: '' });
  assert.equal(place.builds(), 1);
});

test('the shell is built again when a source changed or its result is gone, not when only times changed', async (t) => {
  const place = checkout(t);
  const source = path.join(place.root, 'apps/example/index.ts');
  const steps: [() => void, number][] = [
    [() => {}, 1],
    [() => fs.utimesSync(source, 1, 1), 1],
    [() => fs.writeFileSync(source, 'export { };'), 2],
    [() => fs.writeFileSync(path.join(place.root, 'apps/example/more.ts'), ''), 3],
    [() => fs.rmSync(path.join(place.root, 'apps/example/more.ts')), 4],
    [() => fs.rmSync(path.join(place.root, 'packages/shell/dist/index.html')), 5],
    [() => fs.writeFileSync(path.join(place.root, 'apps/example/a.test.ts'), ''), 5],
    [() => fs.writeFileSync(path.join(place.root, '.platform/frontends.json'), '{"sour'), 6],
  ];
  for (const [change, builds] of steps) {
    change();
    assert.equal((await start(t, place).ended).code, 0);
    assert.equal(place.builds(), builds, change.toString());
  }
});

test('of two starts at once one builds and the other waits for it', async (t) => {
  const place = checkout(t);
  fs.writeFileSync(path.join(place.root, 'wait'), '');
  const first = start(t, place);
  while (place.builds() === 0) await delay(5);
  const second = start(t, place);
  await says(second.child, 'Another set-up');
  fs.rmSync(path.join(place.root, 'wait'));
  assert.deepEqual([(await first.ended).code, (await second.ended).code], [0, 0]);
  assert.equal(place.builds(), 1);
});

test('a set-up that is killed leaves its lock to what it had started, and the next one is not stopped by it', async (t) => {
  const place = checkout(t);
  fs.writeFileSync(path.join(place.root, 'wait'), '');
  const first = start(t, place);
  while (place.builds() === 0) await delay(5);
  first.child.kill('SIGKILL');
  const second = start(t, place);
  await says(second.child, 'Another set-up');
  fs.rmSync(path.join(place.root, 'wait'));
  assert.equal((await second.ended).code, 0);
});

test('a set-up that is asked to end says so and leaves nothing running', async (t) => {
  const place = checkout(t);
  fs.writeFileSync(path.join(place.root, 'wait'), '');
  const first = start(t, place);
  while (place.builds() === 0) await delay(5);
  first.child.kill('SIGTERM');
  const { code, out, err } = await first.ended;
  assert.deepEqual([code, out], [1, '']);
  assert.match(err, /ended by SIGTERM/);
});

test('a build that fails is one line with its words, and is tried again', async (t) => {
  const place = checkout(t);
  fs.writeFileSync(path.join(place.root, 'broken'), '');
  const { code, err } = await start(t, place).ended;
  assert.equal(code, 1);
  assert.match(err.trim().split('\n').at(-1) ?? '', /^Building the shell failed .*the build is broken/);
  fs.rmSync(path.join(place.root, 'broken'));
  assert.equal((await start(t, place).ended).code, 0);
});

test('a changed lockfile is installed with npm before anything runs', async (t) => {
  const place = checkout(t);
  fs.rmSync(path.join(place.root, 'node_modules'), { recursive: true });
  const first = await start(t, place).ended;
  assert.match(first.err, /Installing dependencies …\nDependencies installed/);
  const second = await start(t, place).ended;
  assert.doesNotMatch(second.err, /dependencies/i);
});

test('without npm a missing dependency is one clear line', async (t) => {
  const place = checkout(t);
  fs.rmSync(path.join(place.root, 'node_modules'), { recursive: true });
  const onlyFlock = path.join(place.root, 'bin');
  fs.mkdirSync(onlyFlock);
  const flock = (process.env.PATH ?? '').split(':').map((folder) => path.join(folder, 'flock'));
  fs.symlinkSync(flock.find((file) => fs.existsSync(file)) ?? '', path.join(onlyFlock, 'flock'));
  const env = { PATH: onlyFlock, npm_execpath: '', npm_node_execpath: '' };
  const { code, err } = await start(t, place, { env }).ended;
  assert.equal(code, 1);
  assert.equal(
    err,
    'Installing dependencies …\nnpm was not found: install it (on Debian: apt-get install npm), then try again.\n',
  );
});

/** Without node_modules, and with a lockfile that wants these packages. */
function wanting({ root }: Checkout, packages: Record<string, object>, optional: boolean) {
  fs.rmSync(path.join(root, 'node_modules'), { recursive: true });
  const versions = Object.fromEntries(Object.keys(packages).map((name) => [name, '1.0.0']));
  const description = {
    name: 'checkout',
    version: '1.0.0',
    [optional ? 'optionalDependencies' : 'dependencies']: versions,
  };
  const entries = Object.entries(packages).map(([name, entry]) => [
    `node_modules/${name}`,
    { version: '1.0.0', optional, ...entry },
  ]);
  const locked = { ...description, lockfileVersion: 3, packages: { '': description, ...Object.fromEntries(entries) } };
  fs.writeFileSync(path.join(root, 'package.json'), JSON.stringify(description));
  fs.writeFileSync(path.join(root, 'package-lock.json'), JSON.stringify(locked));
}

function npmOf({ root }: Checkout, registry: string) {
  return { npm_config_registry: registry, npm_config_cache: path.join(root, 'cache') };
}

const nowhere = { integrity: 'sha512-AAAA' };

test('an unreachable registry is one clear line', async (t) => {
  const place = checkout(t);
  wanting(place, { nothing: nowhere }, false);
  // The discard port of this machine, at which nothing listens.
  const { code, err } = await start(t, place, { env: npmOf(place, 'http://127.0.0.1:9') }).ended;
  assert.equal(code, 1);
  assert.match(err, /\nnpm could not reach its registry \(ECONNREFUSED\): check the network .+\n$/);
});

test('a registry whose certificate npm does not trust is one clear line', async (t) => {
  const place = checkout(t);
  wanting(place, { nothing: nowhere }, false);
  const registry = https.createServer(await certificateFor(['localhost']), (_request, answer) => answer.end());
  await once(registry.listen(0, '127.0.0.1'), 'listening');
  t.after(() => registry.close());
  const { port } = registry.address() as AddressInfo;
  const env = { ...npmOf(place, `https://localhost:${port}`), NODE_EXTRA_CA_CERTS: '', npm_config_cafile: '' };
  const { code, err } = await start(t, place, { env }).ended;
  assert.equal(code, 1);
  assert.match(err, /\nnpm does not trust the certificate of its registry \(\S*CERT\S*\): .+NODE_EXTRA_CA_CERTS .+\n$/);
});

const thisMachine = { os: [process.platform], cpu: [process.arch] };

test('a program of this machine that npm leaves out is named, and wanted again at the next start', async (t) => {
  const place = checkout(t);
  wanting(place, { [`program-of-${process.arch}`]: { ...nowhere, ...thisMachine } }, true);
  const { code, err } = await start(t, place, { env: npmOf(place, 'http://127.0.0.1:9') }).ended;
  assert.equal(code, 1);
  assert.match(err, /\nnpm left out what this machine needs \(program-of-\w+\): try again\./);
  assert.equal(fs.existsSync(path.join(place.root, 'node_modules/.platform-setup')), false);
});

test('npm installs for the Node that it brings, not for its own', async (t) => {
  const place = checkout(t);
  const ours = `node-${process.platform}-${process.arch}`;
  const packed = (name: string, entry: object) => {
    const folder = path.join(place.root, 'packed', name);
    fs.mkdirSync(path.join(folder, 'bin'), { recursive: true });
    fs.writeFileSync(path.join(folder, 'bin/node'), `#!/bin/sh\nexec '${process.execPath}' "$@"\n`, { mode: 0o755 });
    fs.writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ name, version: '1.0.0', ...entry }));
    const { status } = spawnSync('npm', ['pack', '--silent', '--pack-destination', '..'], { cwd: folder });
    assert.equal(status, 0);
    const file = path.join(place.root, 'packed', `${name}-1.0.0.tgz`);
    const integrity = `sha512-${createHash('sha512').update(fs.readFileSync(file)).digest('base64')}`;
    return { ...entry, resolved: `file:packed/${name}-1.0.0.tgz`, integrity };
  };
  // No npm runs on such a Node.
  const engines = { engines: { node: '1.0.0' }, ...thisMachine };
  wanting(place, { [ours]: packed(ours, thisMachine), program: packed('program', engines) }, true);
  const { code, err } = await start(t, place, { env: npmOf(place, 'http://127.0.0.1:9') }).ended;
  assert.equal(code, 0, err);
  assert.ok(fs.existsSync(path.join(place.root, 'node_modules/program')));
  // Old npms link no program of that name, as none does here.
  assert.equal(fs.readlinkSync(path.join(place.root, 'node_modules/.bin/node')), `../${ours}/bin/node`);
});

for (const [name, nodeOptions] of [
  ['in place of the set-up', []],
  ['as its child', withoutExecve],
] as const) {
  test(`a platform that runs ${name} gets signals, and its exit code comes out`, async (t) => {
    const place = checkout(t);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      const { child, ended } = start(t, place, { args: ['stay'], nodeOptions });
      await says(child, 'stay');
      child.kill(signal);
      const { code, out } = await ended;
      assert.equal(code, 7);
      assert.match(out, new RegExp(`${signal}\n$`));
    }
    assert.equal((await start(t, place, { args: ['42'], nodeOptions }).ended).code, 42);
  });
}

test('a platform ends when the set-up that runs it as a child is killed', async (t) => {
  const place = checkout(t);
  const { child, ended } = start(t, place, { args: ['stay'], nodeOptions: withoutExecve });
  await says(child, 'stay');
  child.kill('SIGKILL');
  // Its output closes only when the platform has ended too.
  assert.match((await ended).out, /SIGTERM/);
});

test('a platform that npm started ends when npm is killed', async (t) => {
  const place = checkout(t);
  await start(t, place).ended;
  const code = `require('node:child_process').spawn(process.execPath, [${JSON.stringify(path.join(place.root, 'scripts/platform.mjs'))}, 'start', 'stay'], { stdio: 'inherit' })`;
  const npm = spawn(process.execPath, ['-e', code], {
    env: { ...process.env, npm_lifecycle_event: 'start' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const said = text(npm.stdout);
  await says(npm, 'stay');
  npm.kill('SIGKILL');
  assert.match(await said, /SIGTERM/);
});

test('a Node that is too old is refused in one line', async (t) => {
  const old =
    "data:text/javascript,Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '16.20.2' } })";
  const { code, err } = await start(t, checkout(t), { nodeOptions: ['--import', old] }).ended;
  assert.deepEqual([code, err], [1, 'Node 16.20.2 is too old: install Node 18 or later, then try again.\n']);
});

test('an empty HOME is as good as none', async (t) => {
  const place = checkout(t);
  await start(t, place).ended;
  for (const nodeOptions of [[], withoutExecve]) {
    const { out } = await start(t, place, { args: ['home'], env: { HOME: '' }, nodeOptions }).ended;
    assert.equal(out.split('\n')[1], userInfo().homedir);
  }
});

interface LauncherOptions {
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

function launch(file: string, { args, cwd = tmpdir(), env = {} }: LauncherOptions) {
  const { status, stdout, stderr } = spawnSync(file, args, {
    cwd,
    env: { ...process.env, ...env },
    encoding: 'utf8',
  });
  return { status, out: stdout, err: stderr };
}

test('./platform runs a command from any folder, through symbolic links, and leaves its arguments as they are', (t) => {
  const { root } = checkout(t);
  const elsewhere = fs.mkdtempSync(path.join(tmpdir(), 'platform elsewhere '));
  t.after(() => fs.rmSync(elsewhere, { recursive: true }));
  fs.symlinkSync(path.join(root, 'platform'), path.join(elsewhere, 'first'));
  fs.mkdirSync(path.join(elsewhere, 'bin'));
  fs.symlinkSync('../first', path.join(elsewhere, 'bin', 'platform'));
  const onPath = { PATH: `${path.join(elsewhere, 'bin')}:${process.env.PATH}` };
  for (const run of [
    launch('./platform', { args: ['ps', '3', './a b'], cwd: root }),
    launch(path.join(root, 'platform'), { args: ['ps', '3', './a b'] }),
    launch('bin/platform', { args: ['ps', '3', './a b'], cwd: elsewhere }),
    launch('platform', { args: ['ps', '3', './a b'], env: onPath }),
  ]) {
    assert.deepEqual(run, { status: 3, out: '["ps","3","./a b"]\n', err: '' });
  }
});

test('./platform before the first start installs what is missing, and builds only for commands that need it', (t) => {
  const place = checkout(t);
  fs.rmSync(path.join(place.root, 'node_modules'), { recursive: true });
  const file = path.join(place.root, 'platform');
  const first = launch(file, { args: ['ps'] });
  assert.match(first.err, /^Installing dependencies …\nDependencies installed \(\d+ s\)\.\n$/);
  assert.deepEqual(
    [first.status, first.out, place.builds()],
    [0, '["ps"]\n', 0],
    'the output is that of the command alone',
  );
  assert.equal(launch(file, { args: ['dev', '0', '--help'] }).err, '');
  const built = launch(file, { args: ['dev', '0'] });
  assert.match(built.err, /^Building the shell and the default apps …\nShell and default apps built/);
  assert.equal(place.builds(), 1);
});

test('./platform without a Node on the PATH takes the one that npm brought, else says what to install', (t) => {
  const { root } = checkout(t);
  const bin = path.join(root, 'bin');
  fs.mkdirSync(bin);
  for (const program of ['readlink', 'flock']) {
    const found = (process.env.PATH ?? '').split(':').map((folder) => path.join(folder, program));
    fs.symlinkSync(found.find((name) => fs.existsSync(name)) ?? '', path.join(bin, program));
  }
  const file = path.join(root, 'platform');
  const lacking = launch(file, { args: ['ps'], env: { PATH: bin } });
  assert.deepEqual(lacking, {
    status: 1,
    out: '',
    err: 'Node was not found: install Node 18 or later and npm, then try again.\n',
  });
  fs.mkdirSync(path.join(root, 'node_modules', '.bin'));
  fs.symlinkSync(process.execPath, path.join(root, 'node_modules', '.bin', 'node'));
  assert.equal(launch(file, { args: ['ps', '5'], env: { PATH: bin } }).status, 5);
});
