// Lifecycle operations at random on apps whose owner's wishes are kept count of, for the tests that kill meanwhile.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { InstalledApp } from '@platform/contract';
import { openBackend } from '../support/backend.ts';
import type { TestAccount } from '../support/client.ts';
import { buildTestPackage, testManifest } from '../support/packages.ts';
import type { PlatformPlace } from '../support/platform-process.ts';
import { until } from '../support/wait.ts';

/** What its owner wishes of one app; `unknown` after an operation whose answer was lost. */
export interface Wish {
  readonly appId: string;
  readonly mode: 'automatic' | 'always';
  installed: boolean | 'unknown';
  stopped: boolean | 'unknown';
}

/** What became of one operation: core answered, or the connection to it or from it to its database broke. */
export type Outcome = 'answered' | 'lost';

type Node = Pick<PlatformPlace, 'nodePort'>;

export async function publish(account: TestAccount, appId: string, mode: Wish['mode'] = 'automatic'): Promise<Wish> {
  const manifest = testManifest(appId, { workload: { runtime: 'node', entry: 'main.mjs', volume: true, mode } });
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
  return { appId, mode, installed: false, stopped: false };
}

/** One operation that fits the state of the app, and what is known of that state afterwards. */
export async function operate(node: Node, account: TestAccount, wish: Wish, random: () => number): Promise<Outcome> {
  const app = `/v1/apps/${wish.appId}`;
  try {
    if (wish.installed !== true) {
      const acknowledged = wish.installed === false;
      wish.installed = 'unknown';
      wish.stopped = 'unknown';
      const { status, text } = await account.fetch('/v1/apps', { body: { appId: wish.appId } });
      if (nothingPromised(text)) return 'lost';
      // What core said is gone is not there.
      assert.ok(status === 201 || (status === 409 && !acknowledged), text);
      wish.installed = true;
      if (status === 201) wish.stopped = false;
      return 'answered';
    }
    const choice = random();
    if (choice < 0.1) {
      wish.installed = 'unknown';
      const { status, text } = await account.fetch(app, { method: 'DELETE' });
      if (nothingPromised(text)) return 'lost';
      assert.equal(status, 204, text);
      wish.installed = false;
      // Installed again, it begins as it does for everybody.
      wish.stopped = 'unknown';
    } else if (choice < 0.5) {
      wish.stopped = 'unknown';
      const { status, text } = await account.fetch(`${app}/start`, { method: 'POST' });
      if (nothingPromised(text)) return 'lost';
      // While its node is away the wish is kept all the same.
      assert.ok([200, 503].includes(status), text);
      wish.stopped = false;
    } else if (choice < 0.8) {
      wish.stopped = 'unknown';
      const { status, text } = await account.fetch(`${app}/stop`, { method: 'POST' });
      if (nothingPromised(text)) return 'lost';
      assert.ok([200, 503].includes(status), text);
      wish.stopped = true;
    } else {
      const ask = await openBackend(node, account, wish.appId);
      const { status, text } = await ask('/');
      assert.ok([200, 502, 503].includes(status), text);
    }
    return 'answered';
  } catch (error) {
    // The connection broke: whether this operation happened is not known, and nothing was promised.
    if (error instanceof assert.AssertionError) throw error;
    return 'lost';
  }
}

/** Core's database did not answer in its time, as on a machine that is busy with being killed and started again. */
function nothingPromised(text: string): boolean {
  return text.includes('"code":"unavailable"');
}

/** Every acknowledged wish is still known; what was not acknowledged is now known to be one or the other. */
export async function assertAsWished(account: TestAccount, wishes: readonly Wish[]): Promise<void> {
  const { items } = await account.browser.take<{ items: InstalledApp[] }>('/v1/apps');
  for (const wish of wishes) {
    const found = items.some(({ appId }) => appId === wish.appId);
    if (wish.installed === 'unknown') wish.installed = found;
    else assert.equal(found, wish.installed, `${wish.appId} is installed`);
  }
}

/** Brings the app up, and asks it whether it ever shared its volume with another. */
export async function assertServes(node: Node, account: TestAccount, wish: Wish): Promise<void> {
  if (wish.installed !== true) await account.browser.take('/v1/apps', { body: { appId: wish.appId } });
  if (wish.stopped === true) {
    const status = await account.browser.take<{ state: string }>(`/v1/apps/${wish.appId}/status`);
    assert.equal(status.state, 'stopped', `${wish.appId} was stopped by its owner`);
  }
  const started = await account.browser.take<{ state: string; reason?: string }>(`/v1/apps/${wish.appId}/start`, {
    method: 'POST',
  });
  assert.equal(started.state, 'running', started.reason);
  const ask = await openBackend(node, account, wish.appId);
  // The end of its former run may be noticed only now; whoever comes then is told to come again.
  const answer = await until(`${wish.appId} to answer`, async () => {
    const answered = await ask('/');
    return answered.status === 503 ? undefined : answered;
  });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.text, '', 'two writers of one volume');
}
