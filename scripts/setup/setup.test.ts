// Promises of `npm start` and `./platform` before the platform runs, each against a small checkout of its own: only what
// is needed is done, once, and signals, exit codes and failures come through.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import * as path from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { checkout, start } from './small-checkout.ts';

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
