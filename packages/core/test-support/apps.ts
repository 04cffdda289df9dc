// Publishing, installing and opening small apps through the real routes, for tests of installed apps.
import { strict as assert } from 'node:assert';
import { randomBytes } from 'node:crypto';
import type { Grant, InstallationId, InstalledApp, LaunchDescriptor } from '@platform/contract';
import type { TestAccount } from '../../../tests/support/client.ts';
import type { Constellation } from '../../../tests/support/constellation.ts';
import { buildTestPackage, testManifest } from '../../../tests/support/packages.ts';
import { type RawAnswer, rawRequest } from '../../../tests/support/raw-http.ts';
import { hashCredential } from '../src/credentials/credential.ts';

export const nodeWorkload = { runtime: 'node', entry: 'main.js' } as const;

type Files = Readonly<Record<string, string | Buffer>>;

/** Publishes a version; `more` goes over a manifest with a frontend and nothing else. */
export async function publish(
  account: TestAccount,
  appId: string,
  more: Readonly<Record<string, unknown>> = {},
  files: Files = {},
): Promise<{ hash: string; body: Buffer }> {
  const manifest = testManifest(appId, more);
  const body = await buildTestPackage({
    manifest,
    files: {
      ...(manifest.frontend === undefined ? {} : { 'frontend/index.html': `<!doctype html><title>${appId}</title>` }),
      ...(manifest.workload === undefined ? {} : { 'workload/main.js': '' }),
      ...files,
    },
  });
  const answer = await account.fetch(`/v1/catalog/${appId}/versions/${manifest.version}`, {
    method: 'PUT',
    body,
    headers: { 'content-type': 'application/gzip' },
  });
  assert.equal(answer.status, 201, answer.text);
  return { hash: String((answer.json as { hash: unknown }).hash), body };
}

export async function install(
  account: TestAccount,
  appId: string,
  permissions?: readonly Grant[],
): Promise<InstalledApp> {
  const body = permissions === undefined ? { appId } : { appId, permissions };
  const { app } = await account.browser.take<{ app: InstalledApp }>('/v1/apps', { body });
  return app;
}

/** The descriptor of an app with or without a frontend. */
export function launchAny(account: TestAccount, appId: string): Promise<LaunchDescriptor> {
  return account.browser.take<LaunchDescriptor>(`/v1/apps/${appId}/launch`, { body: {} });
}

/** The descriptor of an app with a frontend. */
export async function launch(
  account: TestAccount,
  appId: string,
): Promise<LaunchDescriptor & { readonly url: string; readonly frontendCapability: string }> {
  const descriptor = await launchAny(account, appId);
  const { url, frontendCapability } = descriptor;
  assert.ok(url !== null && frontendCapability !== null, `${appId} has no frontend`);
  return { ...descriptor, url, frontendCapability };
}

export function exchange(constellation: Constellation, capability: string, origin: string): Promise<RawAnswer> {
  return rawRequest({
    port: constellation.port,
    method: 'POST',
    path: '/v1/frontend/exchange',
    headers: { host: new URL(constellation.origin).host, origin, 'content-type': 'application/json' },
    body: JSON.stringify({ capability }),
  });
}

export interface OpenFrontend {
  readonly origin: string;
  readonly capability: string;
  /** A request to a service as the frontend sends it. */
  fetch(path: string, headers?: Readonly<Record<string, string>>): Promise<RawAnswer>;
}

/** Launches an app and exchanges its capability, as its frontend does. */
export async function openFrontend(
  constellation: Constellation,
  account: TestAccount,
  appId: string,
): Promise<OpenFrontend> {
  const { origin, frontendCapability } = await launch(account, appId);
  const answer = await exchange(constellation, frontendCapability, origin);
  assert.equal(answer.status, 200, answer.text);
  const { capability } = answer.json as { capability: string };
  const host = new URL(constellation.origin).host;
  return {
    origin,
    capability,
    fetch: (path, headers = {}) =>
      rawRequest({
        port: constellation.port,
        path,
        headers: { host, origin, authorization: `Bearer ${capability}`, ...headers },
      }),
  };
}

/** A request with a Bearer credential and no Origin, as nodes and Gateways send it. */
export function bearer(
  { port, origin }: Pick<Constellation, 'port' | 'origin'>,
  credential: string,
  path: string,
  body?: unknown,
): Promise<RawAnswer> {
  return rawRequest({
    port,
    path,
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      host: new URL(origin).host,
      authorization: `Bearer ${credential}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

export interface InstallationRow {
  readonly id: InstallationId;
  readonly account_key: string;
  readonly host_label: string;
  readonly endpoint_id: string;
  readonly generation: number;
  readonly node_id: string | null;
  readonly removed_at: Date | null;
  readonly grants: Grant[];
}

/** What the database holds of an installation, removed or not. */
export async function installationRow(
  { core }: Constellation,
  account: TestAccount,
  appId: string,
): Promise<InstallationRow> {
  const { rows } = await core.context.pool.query<InstallationRow>(
    `SELECT i.id, i.account_key, host_label, endpoint_id, generation, node_id, removed_at, grants
       FROM installations i JOIN accounts a ON a.key = i.account_key WHERE a.name = $1 AND app_id = $2`,
    [account.name, appId],
  );
  if (rows[0] === undefined) throw new Error(`${account.name} never installed ${appId}`);
  return rows[0];
}

/** The core service credential of a new workload start, fetched as the local node. */
export async function startedCredential(constellation: Constellation, id: InstallationId): Promise<string> {
  const node = constellation.core.localNode.nodeCredential;
  const answer = await bearer(constellation, node, `/v1/node/installations/${id}/starts`, {});
  assert.equal(answer.status, 200, answer.text);
  return (answer.json as { coreServiceCredential: string }).coreServiceCredential;
}

/** A second node, for what must not reach it. Returns its credential. */
export async function addNode({ core }: Constellation, name: string): Promise<{ id: string; credential: string }> {
  const credential = `pnd_${randomBytes(32).toString('base64url')}`;
  const id = `node-${name}`;
  await core.context.pool.query(
    "INSERT INTO nodes (id, name, credential_hash, credential_expires_at) VALUES ($1, $2, $3, 'infinity')",
    [id, name, hashCredential(credential)],
  );
  return { id, credential };
}
