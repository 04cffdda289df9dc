// docs/python.md: its commands, typed as they stand there, publish a backend in Python, from an archive and from a
// registry; the lines that it shows are those of the example.
import { strict as assert } from 'node:assert';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { engineMissing, prepareEngine, type TestEngine } from '../../packages/runtime/test-support/docker-engine.ts';
import {
  registryMissing,
  startRegistry,
  type TestRegistry,
} from '../../packages/runtime/test-support/image-registry.ts';
import { type AskBackend, openBackend } from '../support/backend.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { blocksOf } from '../support/documented.ts';
import { lacksProgram } from '../support/lacks-program.ts';
import { inOwnNetwork } from '../support/own-network.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { until } from '../support/wait.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const EXAMPLE = path.join(ROOT, 'examples/notes-python');
const PATIENCE = 240_000;
const LONG = { timeout: 2 * PATIENCE };
const run = promisify(execFile);

const blocks = (language: string) => blocksOf('docs/python.md', language);

const lines = (code: string) =>
  code
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n');

test('what it shows of the example stands there', async () => {
  const shown = { dockerfile: 'image/Dockerfile', json: 'manifest.json', python: 'image/server.py' };
  for (const [language, file] of Object.entries(shown)) {
    const text = lines(await readFile(path.join(EXAMPLE, file), 'utf8'));
    for (const block of blocks(language)) assert.ok(text.includes(lines(block)), `${file} has other lines: ${block}`);
  }
});

/**
 * STAND-IN for the image of Docker Hub, which tests do not ask: this machine's own Python under its name.
 */
async function offerPython(folder: string, environment: NodeJS.ProcessEnv): Promise<void> {
  const root = path.join(folder, 'python-root');
  const script = `
import os, shutil, subprocess, sys, sysconfig
root, program = sys.argv[1], os.path.realpath(sys.executable)
libraries = [program]
standard = sysconfig.get_path("stdlib")
for name in os.listdir(os.path.join(standard, "lib-dynload")):
    libraries.append(os.path.join(standard, "lib-dynload", name))
needed = set()
for library in libraries:
    said = subprocess.run(["ldd", library], capture_output=True, text=True).stdout
    needed.update(word for word in said.split() if word.startswith("/"))
for file in needed | {program}:
    target = root + file
    os.makedirs(os.path.dirname(target), exist_ok=True)
    shutil.copy(os.path.realpath(file), target)
leave = shutil.ignore_patterns("__pycache__", "test", "tests", "site-packages", "dist-packages", "config-*", "idlelib")
shutil.copytree(standard, root + standard, ignore=leave)
os.makedirs(root + "/usr/local/bin")
os.symlink(program, root + "/usr/local/bin/python3")
`;
  await mkdir(root);
  await run('/usr/bin/python3', ['-c', script, root]);
  const archive = path.join(folder, 'python.tar');
  await run('tar', ['--create', '--file', archive, '--directory', root, '.']);
  const change = ['--change', 'ENV PATH=/usr/local/bin:/usr/bin:/bin'];
  await run('docker', ['import', ...change, archive, 'python:3.13-slim'], { env: environment });
}

const missing = engineMissing() || registryMissing() || lacksProgram('docker') || lacksProgram('python3');
inOwnNetwork(import.meta.url, { skip: missing, timeout: 15 * 60_000 }, () => {
  let engine: TestEngine;
  let registry: TestRegistry;
  let folder: string;
  let place: PlatformPlace;
  let platform: PlatformProcess;
  let account: TestAccount;
  let environment: NodeJS.ProcessEnv;

  before(async () => {
    engine = prepareEngine('ours');
    folder = await mkdtemp(path.join(tmpdir(), 'python-'));
    await engine.start();
    registry = await startRegistry();
    place = await platformPlace({
      PLATFORM_RUNTIME_DRIVER: 'docker',
      PLATFORM_RUNTIME_DOCKER_SOCKET: engine.socketPath,
      PLATFORM_RUNTIME_IMAGE_REGISTRIES: registry.host,
    });
    environment = {
      ...place.environment,
      DOCKER_HOST: `unix://${engine.socketPath}`,
      DOCKER_CONFIG: path.join(folder, 'docker'),
      DOCKER_BUILDKIT: '0',
      REGISTRY: registry.host,
    };
    await offerPython(folder, environment);
    platform = await startPlatform(place);
    account = await registerAccount(place, 'pythonista');
    // Where the reader stands: a checkout.
    await symlink(path.join(ROOT, 'platform'), path.join(folder, 'platform'));
    await symlink(path.join(ROOT, 'examples'), path.join(folder, 'examples'));
  });
  after(async () => {
    try {
      await platform?.stop();
      await place?.remove();
    } finally {
      await registry?.stop();
      await engine.remove();
      await rm(folder, { recursive: true });
    }
  });

  async function type(block: string | undefined): Promise<void> {
    assert.ok(block);
    await run('sh', ['-euc', block], { cwd: folder, env: environment });
  }

  async function answers(ask: AskBackend): Promise<void> {
    await until('the backend to answer', async () => (await ask('/notes')).status === 200, PATIENCE);
  }

  test('its first commands publish it; a note is stored, announced and found', LONG, async () => {
    const [build] = blocks('sh');
    await type(build);
    await account.browser.take('/v1/apps', { body: { appId: 'notes-python' } });
    const ask = await openBackend(place, account, 'notes-python');
    await answers(ask);
    const saved = await ask('/notes', { text: 'Milk\nand bread' });
    assert.equal(saved.status, 201, saved.text);
    assert.deepEqual((saved.json as { problems: string[] }).problems, []);
    const { items } = await account.browser.take<{ items: { title: string; body: string }[] }>('/v1/notifications');
    assert.deepEqual(
      items.map(({ title, body }) => [title, body]),
      [['Note saved', 'Milk']],
    );
    const found = await account.browser.take<{ items: { title: string }[] }>('/v1/search?q=bread');
    assert.deepEqual(
      found.items.map(({ title }) => title),
      ['Milk'],
    );
  });

  test('without its grants it keeps the note, and passes on what the owner can do', async () => {
    const permissions = '/v1/apps/notes-python/permissions';
    const answer = await account.fetch(permissions, { method: 'PUT', body: { permissions: [] } });
    assert.equal(answer.status, 200, answer.text);
    const ask = await openBackend(place, account, 'notes-python');
    const saved = await ask('/notes', { text: 'Quiet' });
    assert.equal(saved.status, 201, saved.text);
    const { problems } = saved.json as { problems: string[] };
    assert.equal(problems.length, 2);
    for (const problem of problems)
      assert.match(problem, /^Notes in Python may not .* You can allow it in Settings → Apps → Notes in Python\.$/);
  });

  test('its last commands publish the same image from a registry, and the notes are still there', LONG, async () => {
    const [, push] = blocks('sh');
    await type(push);
    assert.deepEqual(await readdir(path.join(folder, 'my-notes/workload')), []);
    const upgrade = await account.fetch('/v1/apps/notes-python/upgrade', { body: { version: '1.1.0' } });
    assert.equal(upgrade.status, 200, upgrade.text);
    const ask = await openBackend(place, account, 'notes-python');
    await answers(ask);
    assert.deepEqual(
      ((await ask('/notes')).json as { notes: { text: string }[] }).notes.map(({ text }) => text),
      ['Quiet', 'Milk\nand bread'],
    );
  });

  test('it shows every command that is needed', () => assert.equal(blocks('sh').length, 2));
});
