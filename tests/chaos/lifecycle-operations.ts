// Random lifecycle operations on apps that track the desired state of each, for the tests that kill processes meanwhile.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { InstalledApp } from '@platform/contract';
import { openBackend } from '../support/backend.ts';
import type { TestAccount } from '../support/client.ts';
import { buildTestPackage, testManifest } from '../support/packages.ts';
import type { PlatformPlace } from '../support/platform-process.ts';
import { until } from '../support/wait.ts';

/** The state of one app that its owner last requested; `unknown` after an operation whose answer was lost. */
export interface DesiredState {
  readonly appId: string;
  readonly mode: 'automatic' | 'always';
  installed: boolean | 'unknown';
  stopped: boolean | 'unknown';
}

/** What became of one operation: core answered, or the connection to it or from it to its database broke. */
export type Outcome = 'answered' | 'lost';

type Node = Pick<PlatformPlace, 'nodePort'>;

export async function publish(
  account: TestAccount,
  appId: string,
  mode: DesiredState['mode'] = 'automatic',
): Promise<DesiredState> {
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

/** Performs one operation that fits the state of the app, and records what is known of that state afterwards. */
export async function operate(
  node: Node,
  account: TestAccount,
  app: DesiredState,
  random: () => number,
): Promise<Outcome> {
  const path = `/v1/apps/${app.appId}`;
  try {
    if (app.installed !== true) {
      const acknowledged = app.installed === false;
      app.installed = 'unknown';
      app.stopped = 'unknown';
      const { status, text } = await account.fetch('/v1/apps', { body: { appId: app.appId } });
      if (nothingPromised(text)) return 'lost';
      // An app whose removal core acknowledged is not installed.
      assert.ok(status === 201 || (status === 409 && !acknowledged), text);
      app.installed = true;
      if (status === 201) app.stopped = false;
      return 'answered';
    }
    const choice = random();
    if (choice < 0.1) {
      app.installed = 'unknown';
      const { status, text } = await account.fetch(path, { method: 'DELETE' });
      if (nothingPromised(text)) return 'lost';
      assert.equal(status, 204, text);
      app.installed = false;
      // Reinstalling resets whether it is stopped.
      app.stopped = 'unknown';
    } else if (choice < 0.5) {
      app.stopped = 'unknown';
      const { status, text } = await account.fetch(`${path}/start`, { method: 'POST' });
      if (nothingPromised(text)) return 'lost';
      // Core stores the desired state even while the node is unreachable.
      assert.ok([200, 503].includes(status), text);
      app.stopped = false;
    } else if (choice < 0.8) {
      app.stopped = 'unknown';
      const { status, text } = await account.fetch(`${path}/stop`, { method: 'POST' });
      if (nothingPromised(text)) return 'lost';
      assert.ok([200, 503].includes(status), text);
      app.stopped = true;
    } else {
      const ask = await openBackend(node, account, app.appId);
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

/** Core's database did not answer in time, as on a machine that is busy with killed and restarting processes. */
function nothingPromised(text: string): boolean {
  return text.includes('"code":"unavailable"');
}

/** Asserts that every acknowledged state persists, and resolves states that were unknown. */
export async function assertAsDesired(account: TestAccount, desired: readonly DesiredState[]): Promise<void> {
  const { items } = await account.browser.take<{ items: InstalledApp[] }>('/v1/apps');
  for (const app of desired) {
    const found = items.some(({ appId }) => appId === app.appId);
    if (app.installed === 'unknown') app.installed = found;
    else assert.equal(found, app.installed, `${app.appId} is installed`);
  }
}

/** Starts the app, and asks it whether another writer ever used its volume. */
export async function assertServes(node: Node, account: TestAccount, app: DesiredState): Promise<void> {
  if (app.installed !== true) await account.browser.take('/v1/apps', { body: { appId: app.appId } });
  if (app.stopped === true) {
    const status = await account.browser.take<{ state: string }>(`/v1/apps/${app.appId}/status`);
    assert.equal(status.state, 'stopped', `${app.appId} was stopped by its owner`);
  }
  const started = await account.browser.take<{ state: string; reason?: string }>(`/v1/apps/${app.appId}/start`, {
    method: 'POST',
  });
  assert.equal(started.state, 'running', started.reason);
  const ask = await openBackend(node, account, app.appId);
  // The Runtime may notice the end of the former run only now; such a request gets 503 and is repeated.
  const answer = await until(`${app.appId} to answer`, async () => {
    const answered = await ask('/');
    return answered.status === 503 ? undefined : answered;
  });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.text, '', 'two writers of one volume');
}
