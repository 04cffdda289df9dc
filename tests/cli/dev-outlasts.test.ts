// `platform dev` goes on over restarts of the platform, and leaves nothing behind however it ends.
import { strict as assert } from 'node:assert';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { Command } from '../support/cli-command.ts';
import { registerAccount } from '../support/client.ts';
import {
  killPart,
  type PlatformPlace,
  type PlatformProcess,
  platformPlace,
  startPlatform,
} from '../support/platform-process.ts';
import { until } from '../support/wait.ts';

let place: PlatformPlace;
let platform: PlatformProcess;
let folder = '';

before(async () => {
  place = await platformPlace({ PLATFORM_RUNTIME_DRIVER: 'process' });
  platform = await startPlatform(place);
  await registerAccount(platform, 'anna');
  folder = await mkdtemp(path.join(tmpdir(), 'outlasting-'));
  await mkdir(path.join(folder, 'frontend'));
  const manifest = { schemaVersion: 9, id: 'outlasting', version: '1.0.0', name: 'Outlasting', summary: 'Goes on.' };
  await writeFile(path.join(folder, 'manifest.json'), JSON.stringify({ ...manifest, frontend: {} }));
  // A build that does not end by itself when it is asked to, and starts another process.
  const deaf = `trap '' TERM; echo $$ > build.pid; sleep 100000 & echo $! > more.pid; wait; sleep 100000`;
  await writeFile(path.join(folder, 'watch.sh'), deaf);
  await writeFile(path.join(folder, 'package.json'), JSON.stringify({ scripts: { watch: 'sh watch.sh' } }));
  await save('as it was');
});
after(async () => {
  await platform?.stop();
  await place?.remove();
  await rm(folder, { recursive: true, force: true });
});

const save = (words: string) => writeFile(path.join(folder, 'frontend/index.html'), `<!doctype html><title>${words}`);

interface Development {
  readonly dev: Command;
  /** Of the build, and of what it started. */
  readonly builds: readonly number[];
}

async function develop(t: TestContext, terminal = false): Promise<Development> {
  for (const name of ['build.pid', 'more.pid']) await rm(path.join(folder, name), { force: true });
  const dev = new Command(['dev', folder], { environment: place.environment, terminal });
  t.after(() => dev.child.kill('SIGKILL'));
  await dev.hears(/runs for anna/);
  const builds = await until('the build', () => {
    const found = ['build.pid', 'more.pid'].map((name) => path.join(folder, name)).filter(existsSync);
    const pids = found.map((file) => Number(readFileSync(file, 'utf8')));
    return pids.length === 2 && pids.every((pid) => pid > 0) && pids;
  });
  return { dev, builds };
}

/** One that has ended and that nobody has asked after yet has no words. */
function runs(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== '';
  } catch {
    return false;
  }
}

const nothingIsLeft = ({ builds }: Development) => until('the build to end', () => !builds.some(runs));

test('dev waits for a platform that is restarted, and publishes what was changed meanwhile', async (t) => {
  const development = await develop(t);
  const { dev } = development;
  await platform.stop();
  const waits = await dev.hears(/The platform at \S+ does not answer\. Waiting for it; Ctrl-C ends this\./);
  assert.ok(waits.includes(place.origin), waits);
  await save('changed meanwhile');
  platform = await startPlatform(place);
  await dev.hears(/The platform answers again\.[\s\S]*runs again for anna/);
  await save('changed afterwards');
  await dev.hears(/runs again for anna/);
  dev.child.kill('SIGINT');
  assert.equal((await dev.ends()).code, 0);
  await nothingIsLeft(development);
});

test('dev goes on when a part of the platform is restarted', async (t) => {
  const { dev } = await develop(t);
  for (const part of ['Core', 'PostgreSQL'] as const) {
    await killPart(place, part);
    await save(`${part} is back`);
    await dev.hears(/runs again for anna/);
  }
  dev.child.kill('SIGINT');
  assert.equal((await dev.ends()).code, 0);
});

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGKILL'] as const) {
  test(`nothing of dev is left after ${signal}`, async (t) => {
    const development = await develop(t);
    development.dev.child.kill(signal);
    const { code } = await development.dev.ends();
    assert.equal(code, signal === 'SIGKILL' ? null : 0);
    await nothingIsLeft(development);
  });
}

test('nothing of dev is left when its terminal is closed', async (t) => {
  const development = await develop(t, true);
  // The terminal ends with the program that shows it.
  development.dev.child.kill('SIGKILL');
  await nothingIsLeft(development);
  // Another one has its turn.
  const { dev } = await develop(t);
  dev.child.kill('SIGINT');
  await dev.ends();
});

test('dev ends when the platform is gone for good', async (t) => {
  const development = await develop(t);
  await platform.stop();
  await development.dev.hears(/Waiting for it/);
  const elsewhere = `${place.dataDirectory}-away`;
  await rename(place.dataDirectory, elsewhere);
  const { code, said } = await development.dev.ends();
  await rename(elsewhere, place.dataDirectory);
  assert.equal(code, 1);
  assert.match(said, /The data folder \S+ is gone, and the platform with it\./);
  await nothingIsLeft(development);
});
