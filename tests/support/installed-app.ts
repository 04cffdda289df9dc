// An installed app and the doors it has: its workload, as its Gateway would call core, and its frontend in a browser.
import { strict as assert } from 'node:assert';
import {
  type Assignments,
  type Grant,
  isCritical,
  type LaunchDescriptor,
  type WorkloadStart,
} from '@platform/contract';
import type { TestAccount } from './client.ts';
import type { Constellation } from './constellation.ts';
import { buildTestPackage, testManifest } from './packages.ts';
import { type RawAnswer, rawRequest } from './raw-http.ts';

export interface CallSettings {
  /** Default GET, with a body POST. */
  readonly method?: string;
  /** Sent as JSON; bytes as they are. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface InstalledTestApp {
  readonly appId: string;
  readonly installationId: string;
  readonly origin: string;
  /** The core service credential of the newest start. */
  readonly credential: string;
  /** As the workload, through its Gateway. */
  call(path: string, settings?: CallSettings): Promise<RawAnswer>;
  /**
   * A new start of the workload: the former credential ends.
   * @param envelopeKey public key of its Gateway. Default: it gives none, like nodes of former versions
   */
  restart(envelopeKey?: string): Promise<void>;
  /** Opens the frontend; its calls go out with its own origin and capability. */
  openFrontend(): Promise<{
    readonly capability: string;
    call(path: string, settings?: CallSettings): Promise<RawAnswer>;
  }>;
}

/**
 * Publishes the app unless that was done, installs it for the account with these grants, and starts its workload.
 * @param more members of its manifest
 */
export async function installTestApp(
  world: Constellation,
  account: TestAccount,
  appId: string,
  permissions: readonly Grant[],
  more: Readonly<Record<string, unknown>> = {},
): Promise<InstalledTestApp> {
  const manifest = testManifest(appId, { workload: { runtime: 'node', entry: 'main.js' }, permissions, ...more });
  const files = { 'frontend/index.html': '<!doctype html><title>t</title>', 'workload/main.js': '' };
  const published = await account.fetch(`/v1/catalog/${appId}/versions/1.0.0`, {
    method: 'PUT',
    body: await buildTestPackage({ manifest, files }),
    headers: { 'content-type': 'application/gzip' },
  });
  assert.ok([201, 403, 409].includes(published.status), published.text);
  const named = permissions.some(({ id, resources }) => resources.some((resource) => isCritical(id, resource)));
  await account.browser.take('/v1/apps', { body: named ? { appId, permissions } : { appId } });
  const { origin } = await launch(account, appId);
  const node = { authorization: `Bearer ${world.core.localNode.nodeCredential}` };
  const answer = await callWith(world, '/v1/node/assignments', { headers: node });
  const { installationId } = (answer.json as Assignments).items.find(({ appOrigin }) => appOrigin === origin) ?? {};
  assert.ok(installationId !== undefined, 'the installation was placed on the local node');
  const start = async (envelopeKey?: string) => {
    const path = `/v1/node/installations/${installationId}/starts`;
    const body = envelopeKey === undefined ? undefined : { envelopeKey };
    const started = await callWith(world, path, { method: 'POST', headers: node, body });
    assert.equal(started.status, 200, started.text);
    return (started.json as WorkloadStart).coreServiceCredential;
  };
  let credential = await start();
  return {
    appId,
    installationId,
    origin,
    get credential() {
      return credential;
    },
    call: (path, settings) => callWith(world, path, settings, { authorization: `Bearer ${credential}` }),
    async restart(envelopeKey) {
      credential = await start(envelopeKey);
    },
    async openFrontend() {
      const { frontendCapability } = await launch(account, appId);
      const body = { capability: frontendCapability };
      const exchanged = await callWith(world, '/v1/frontend/exchange', { body, headers: { origin } });
      assert.equal(exchanged.status, 200, exchanged.text);
      const { capability } = exchanged.json as { capability: string };
      return {
        capability,
        call: (path, settings) => callWith(world, path, settings, { authorization: `Bearer ${capability}`, origin }),
      };
    },
  };
}

function launch(account: TestAccount, appId: string): Promise<LaunchDescriptor> {
  return account.browser.take<LaunchDescriptor>(`/v1/apps/${appId}/launch`, { method: 'POST' });
}

function callWith(
  world: Constellation,
  path: string,
  { body, headers, method = body === undefined ? 'GET' : 'POST' }: CallSettings = {},
  more: Readonly<Record<string, string>> = {},
): Promise<RawAnswer> {
  return rawRequest({
    port: world.port,
    method,
    path,
    headers: {
      host: new URL(world.origin).host,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...more,
      ...headers,
    },
    ...(body === undefined ? {} : { body: Buffer.isBuffer(body) ? body : JSON.stringify(body) }),
  });
}
