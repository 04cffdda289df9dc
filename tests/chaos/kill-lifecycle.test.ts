// Kills the platform with SIGKILL at random moments of lifecycle operations: afterwards everything is as its owner
// last wished, no volume had two writers, and nothing is left of what was killed.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { InstalledApp } from '@platform/contract';
import { openBackend } from '../support/backend.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { buildTestPackage, testManifest } from '../support/packages.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { randomFrom } from '../support/random.ts';

const OPERATIONS = Number(process.env.PLATFORM_TEST_OPERATIONS ?? 500);
const BETWEEN_KILLS = 25;
const APPS = 4;

/** What its owner wishes of one app; `unknown` after an operation whose answer was lost. */
interface Wish {
  readonly appId: string;
  installed: boolean | 'unknown';
  stopped: boolean | 'unknown';
}

let place: PlatformPlace;
let platform: PlatformProcess | undefined;

before(async () => {
  place = await platformPlace();
});
after(async () => {
  await platform?.stop();
  await place.remove();
});

test(`${OPERATIONS} lifecycle operations with a kill among every ${BETWEEN_KILLS} end as wished`, {
  timeout: 15 * 60_000,
}, async (context) => {
  const seed = Number(process.env.PLATFORM_TEST_SEED ?? Date.now() % 1_000_000);
  context.diagnostic(`PLATFORM_TEST_SEED=${seed}`);
  const random = randomFrom(seed);
  platform = await startPlatform(place);
  const account = await registerAccount(place, 'restless');
  const wishes: Wish[] = [];
  for (let index = 0; index < APPS; index += 1) wishes.push(await publish(account, `restless-${index}`));

  let done = 0;
  while (done < OPERATIONS) {
    const round = new AbortController();
    let left = Math.min(BETWEEN_KILLS, OPERATIONS - done);
    const workers = wishes.map(async (wish) => {
      while (left > 0 && !round.signal.aborted) {
        left -= 1;
        done += 1;
        await operate(account, wish, random);
      }
    });
    const finished = Promise.all(workers);
    // The moment is what is random here; nothing is awaited that a condition could tell.
    await Promise.race([finished, delay(100 + random() * 2_500)]);
    await platform.kill('SIGKILL');
    round.abort();
    await finished;
    platform = await startPlatform(place);
    await assertAsWished(account, wishes);
  }

  for (const wish of wishes) await assertServes(account, wish);
  const { dataDirectory } = place;
  await platform.stop();
  await nothingLeft(dataDirectory);
});

async function publish(account: TestAccount, appId: string): Promise<Wish> {
  const manifest = testManifest(appId, { workload: { runtime: 'node', entry: 'main.mjs', volume: true } });
  const files = {
    'frontend/index.html': '<!doctype html><title>t</title>',
    'workload/main.mjs': readFileSync(new URL('./lifecycle-app.mjs', import.meta.url)),
  };
  const body = await buildTestPackage({ manifest, files });
  const published = await account.fetch(`/v1/catalog/${appId}/versions/1.0.0`, {
    method: 'PUT',
    body,
    headers: { 'content-type': 'application/gzip' },
  });
  assert.equal(published.status, 201, published.text);
  return { appId, installed: false, stopped: false };
}

/** One operation that fits the state of the app, and what is known of that state afterwards. */
async function operate(account: TestAccount, wish: Wish, random: () => number): Promise<void> {
  const app = `/v1/apps/${wish.appId}`;
  try {
    if (wish.installed !== true) {
      wish.installed = 'unknown';
      wish.stopped = 'unknown';
      const { status, text } = await account.fetch('/v1/apps', { body: { appId: wish.appId } });
      assert.ok([201, 409].includes(status), text);
      wish.installed = true;
      if (status === 201) wish.stopped = false;
      return;
    }
    const choice = random();
    if (choice < 0.1) {
      wish.installed = 'unknown';
      const { status, text } = await account.fetch(app, { method: 'DELETE' });
      assert.equal(status, 204, text);
      wish.installed = false;
    } else if (choice < 0.5) {
      wish.stopped = 'unknown';
      const { status, text } = await account.fetch(`${app}/start`, { method: 'POST' });
      // Right after a start of the platform its node may not have registered yet; the wish is kept all the same.
      assert.ok([200, 503].includes(status), text);
      wish.stopped = false;
    } else if (choice < 0.8) {
      wish.stopped = 'unknown';
      const { status, text } = await account.fetch(`${app}/stop`, { method: 'POST' });
      assert.ok([200, 503].includes(status), text);
      wish.stopped = true;
    } else {
      const ask = await openBackend(place, account, wish.appId);
      const { status, text } = await ask('/');
      assert.ok([200, 503].includes(status), text);
    }
  } catch (error) {
    // The connection broke: whether this operation happened is not known, and nothing was promised.
    if (error instanceof assert.AssertionError) throw error;
  }
}

/** Every acknowledged wish is still known; what was not acknowledged is now known to be one or the other. */
async function assertAsWished(account: TestAccount, wishes: readonly Wish[]): Promise<void> {
  const { items } = await account.browser.take<{ items: InstalledApp[] }>('/v1/apps');
  for (const wish of wishes) {
    const found = items.some(({ appId }) => appId === wish.appId);
    if (wish.installed === 'unknown') wish.installed = found;
    else assert.equal(found, wish.installed, `${wish.appId} is installed`);
  }
}

/** Brings the app up, and asks it whether it ever shared its volume with another. */
async function assertServes(account: TestAccount, wish: Wish): Promise<void> {
  if (wish.installed !== true) await account.browser.take('/v1/apps', { body: { appId: wish.appId } });
  if (wish.stopped === true) {
    const status = await account.browser.take<{ state: string }>(`/v1/apps/${wish.appId}/status`);
    assert.equal(status.state, 'stopped', `${wish.appId} was stopped by its owner`);
  }
  const started = await account.browser.take<{ state: string; reason?: string }>(`/v1/apps/${wish.appId}/start`, {
    method: 'POST',
  });
  assert.equal(started.state, 'running', started.reason);
  const ask = await openBackend(place, account, wish.appId);
  const answer = await ask('/');
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.text, '', 'two writers of one volume');
}

/** No process names the data folder, nothing is mounted in it, and no control group is named after it. */
async function nothingLeft(dataDirectory: string): Promise<void> {
  const { dev, ino } = statSync(dataDirectory);
  const groupName = `platform-${dev.toString(36)}-${ino.toString(36)}`;
  const leftovers = () => [
    ...readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
      .filter((pid) => readOrNothing(`/proc/${pid}/cmdline`).includes(dataDirectory))
      .map((pid) => `process ${pid}: ${readOrNothing(`/proc/${pid}/cmdline`).replaceAll('\0', ' ')}`),
    ...readFileSync('/proc/self/mounts', 'utf8')
      .split('\n')
      .filter((line) => line.includes(dataDirectory)),
    ...controlGroups(groupName),
  ];
  const limit = AbortSignal.timeout(15_000);
  while (leftovers().length > 0) {
    assert.ok(!limit.aborted, leftovers().join('\n'));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Folders of that name in every hierarchy that this user can see. */
function controlGroups(name: string): string[] {
  const hierarchies = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, , type]) => type === 'cgroup' || type === 'cgroup2');
  return hierarchies.flatMap(([, root = '']) =>
    readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((folder) => basename(folder) === name)
      .map((folder) => join(root, folder)),
  );
}

function readOrNothing(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // The process ended while we looked.
    return '';
  }
}
