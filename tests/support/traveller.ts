// An installed app whose backend connects to what a request names, and the grants of its owner
// (packages/runtime/test-support/workloads/traveller.mjs).
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { type AskBackend, openBackend } from './backend.ts';
import { registerAccount, type TestAccount } from './client.ts';
import { buildTestPackage, testManifest } from './packages.ts';
import type { PlatformPlace } from './platform-process.ts';

type Permissions = readonly { readonly id: string; readonly resources: readonly string[] }[];

export const internet = { id: 'network.public', resources: ['*'] };

export interface TravellerApp {
  readonly account: TestAccount;
  readonly ask: AskBackend;
  /** What the backend says at a path, read as JSON. */
  answer<Answer = string>(path: string): Promise<Answer>;
  /** Replaces its grants. */
  put(permissions: Permissions): Promise<unknown>;
  /** Publishes another version and changes to it. Each says its version at `/`. */
  upgrade(version: string): Promise<void>;
}

const SOURCE = readFileSync(
  new URL('../../packages/runtime/test-support/workloads/traveller.mjs', import.meta.url),
  'utf8',
);

/** @param requested what its manifest requests, and is granted at first */
export async function installTraveller(place: PlatformPlace, requested: Permissions): Promise<TravellerApp> {
  const account = await registerAccount(place, 'traveller');
  const publish = async (version: string) => {
    const body = await buildTestPackage({
      manifest: testManifest('traveller', {
        version,
        workload: { runtime: 'node', entry: 'main.mjs' },
        permissions: requested,
      }),
      files: {
        'frontend/index.html': '<!doctype html><title>t</title>',
        'workload/main.mjs': SOURCE.replace("'up'", `'${version}'`),
      },
    });
    const path = `/v1/catalog/traveller/versions/${version}`;
    const headers = { 'content-type': 'application/gzip' };
    const published = await account.fetch(path, { method: 'PUT', body, headers });
    assert.equal(published.status, 201, published.text);
  };
  await publish('1.0.0');
  await account.browser.take('/v1/apps', { body: { appId: 'traveller' } });
  const ask = await openBackend(place, account, 'traveller');
  return {
    account,
    ask,
    answer: async (path) => JSON.parse((await ask(path)).text),
    put: (permissions) =>
      account.browser.take('/v1/apps/traveller/permissions', { method: 'PUT', body: { permissions } }),
    async upgrade(version) {
      await publish(version);
      await account.browser.take('/v1/apps/traveller/upgrade', { body: { version } });
    },
  };
}
