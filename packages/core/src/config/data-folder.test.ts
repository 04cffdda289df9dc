// Promises of the data folder: one instance at a time, no stale lock, and one clear line otherwise.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { type TestContext, test } from 'node:test';
import { openDataFolder } from './data-folder.ts';
import { StartError } from './start-error.ts';

const module = new URL('./data-folder.ts', import.meta.url).href;
const asRoot = process.getuid?.() === 0;

function scratch(t: TestContext): string {
  const folder = fs.mkdtempSync(path.join(tmpdir(), 'platform data '));
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A real second process that opens the folder, says so, and then stays until it is killed. */
async function holder(t: TestContext, folder: string) {
  const child = spawn(
    process.execPath,
    [
      '--input-type=module',
      '-e',
      `import { openDataFolder } from ${JSON.stringify(module)};
       openDataFolder(${JSON.stringify(folder)});
       process.stdout.write("held");
       setInterval(() => {}, 1e6);`,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  t.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}

function refusal(folder: string): StartError {
  try {
    openDataFolder(folder).close();
  } catch (error) {
    assert.ok(error instanceof StartError, String(error));
    assert.doesNotMatch(error.message, /\n/);
    return error;
  }
  assert.fail('the folder was opened');
}

test('a missing folder is made with its parents, closed to others except for passing through as root', (t) => {
  const folder = path.join(scratch(t), 'a', 'b c');
  const umask = process.umask(0o077);
  t.after(() => process.umask(umask));
  const opened = openDataFolder(folder);
  t.after(() => opened.close());
  assert.equal(opened.path, fs.realpathSync(folder));
  assert.equal(fs.statSync(folder).mode & 0o777, asRoot ? 0o711 : 0o700);
  assert.equal(fs.statSync(path.dirname(folder)).mode & 0o777, asRoot ? 0o755 : 0o700);
});

test('what is in a folder from before is closed to others; links and what has a further name are left alone', (t) => {
  const folder = scratch(t);
  const outside = scratch(t);
  fs.chmodSync(folder, 0o777);
  const put = (name: string, mode: number) => {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    fs.writeFileSync(path.join(folder, name), '');
    fs.chmodSync(path.join(folder, name), mode);
  };
  const modeOf = (name: string) => fs.statSync(path.join(folder, name)).mode & 0o777;
  const files = [
    'master.key',
    'packages/a/frontend/index.html',
    'logs/a.jsonl',
    'runtime/identities.json',
    'node/node.key',
  ];
  for (const file of [...files, 'instance.lock', 'volumes/inst-a/mine']) put(file, 0o666);
  put('runtime/etc/passwd', 0o644);
  put('microvm/base-1', 0o644);
  fs.writeFileSync(path.join(outside, 'file'), '', { mode: 0o644 });
  fs.chmodSync(outside, 0o755);
  fs.symlinkSync(outside, path.join(folder, 'packages', 'link'));
  fs.linkSync(path.join(outside, 'file'), path.join(folder, 'packages', 'second-name'));
  const { umask } = process;
  openDataFolder(folder).close();
  t.after(() => void umask(0o022));
  assert.equal(modeOf('.'), asRoot ? 0o711 : 0o700);
  for (const file of files) assert.equal(modeOf(file), 0o600, file);
  for (const name of ['packages', 'packages/a/frontend', 'logs', 'node', 'volumes/inst-a'])
    assert.equal(modeOf(name), 0o700);
  for (const name of ['volumes', 'runtime', 'microvm']) assert.equal(modeOf(name), asRoot ? 0o711 : 0o700, name);
  assert.equal(modeOf('instance.lock'), 0o600);
  assert.equal(modeOf('volumes/inst-a/mine'), 0o666, 'a file of a workload');
  for (const file of ['runtime/etc/passwd', 'microvm/base-1']) assert.equal(modeOf(file), asRoot ? 0o644 : 0o600, file);
  assert.equal(fs.statSync(outside).mode & 0o777, 0o755);
  assert.equal(fs.statSync(path.join(outside, 'file')).mode & 0o777, 0o644);
  fs.writeFileSync(path.join(folder, 'new'), '');
  assert.equal(modeOf('new'), 0o600, 'what is made from then on');
});

test('a second instance on the same folder is refused with the process number of the first', async (t) => {
  const folder = scratch(t);
  const first = await holder(t, folder);
  const refused = refusal(folder);
  assert.equal(refused.code, 'data_folder_in_use');
  assert.match(refused.message, new RegExp(`process ${first.pid}\\)`));
});

test('the same folder under another name is still the same folder', async (t) => {
  const folder = scratch(t);
  await holder(t, folder);
  const link = path.join(scratch(t), 'link');
  fs.symlinkSync(folder, link);
  assert.equal(refusal(link).code, 'data_folder_in_use');
});

test('the lock of a process that was killed does not outlive it', async (t) => {
  const folder = scratch(t);
  const first = await holder(t, folder);
  first.kill('SIGKILL');
  await once(first, 'exit');
  openDataFolder(folder).close();
});

test('closing releases the folder to the next instance, and closing twice does no harm', (t) => {
  const folder = scratch(t);
  const first = openDataFolder(folder);
  first.close();
  const second = openDataFolder(folder);
  first.close();
  assert.equal(refusal(folder).code, 'data_folder_in_use');
  second.close();
});

test('a child that outlives the instance does not keep the folder locked', async (t) => {
  const folder = scratch(t);
  const code = `import { openDataFolder } from ${JSON.stringify(module)};
    import { spawn } from "node:child_process";
    openDataFolder(${JSON.stringify(folder)});
    const child = spawn("sleep", ["60"], { detached: true, stdio: "ignore" });
    child.once("spawn", () => { process.stdout.write(String(child.pid), () => process.kill(process.pid, "SIGKILL")); });`;
  const first = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [[pid]] = await Promise.all([once(first.stdout, 'data'), once(first, 'exit')]);
  t.after(() => process.kill(Number(String(pid)), 'SIGKILL'));
  openDataFolder(folder).close();
});

test('a file where the folder should be is one clear line', (t) => {
  const file = path.join(scratch(t), 'file');
  fs.writeFileSync(file, '');
  for (const folder of [file, path.join(file, 'below')]) {
    const refused = refusal(folder);
    assert.equal(refused.code, 'data_folder_unusable');
    assert.match(refused.message, /is a file, not a folder.*PLATFORM_DATA_DIR/);
  }
});

test('a folder that cannot be written is one clear line with the reason and the cure', (t) => {
  // Root may write everywhere except into what the kernel itself provides.
  const folder = asRoot ? '/proc/self/fdinfo/x' : path.join(scratch(t), 'closed');
  if (!asRoot) fs.mkdirSync(folder, { mode: 0o500 });
  const refused = refusal(folder);
  assert.equal(refused.code, 'data_folder_unusable');
  assert.match(refused.message, /cannot be (used|made): .+\. Choose another folder with PLATFORM_DATA_DIR/);
});
