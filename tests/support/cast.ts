// One account with one caller of every kind, made through the real routes: for tests that walk what each may do.
import { strict as assert } from 'node:assert';
import type { CallerKind, Grant } from '@platform/contract';
import { authorToken } from './author-token.ts';
import { registerAccount, type TestAccount } from './client.ts';
import { connectClient } from './connected-client.ts';
import type { Constellation } from './constellation.ts';
import { buildTestPackage, testManifest } from './packages.ts';
import { requestAsBefore } from './published-before.ts';
import { type RawAnswer, rawRequest } from './raw-http.ts';

export interface Cast {
  readonly account: TestAccount;
  /** The credential headers of a caller kind, with the Origin its credential may be used from. */
  credentials(kind: CallerKind): Record<string, string>;
  /** Like `credentials`, for an installation whose app asked for no permission. */
  powerless(kind: 'frontend' | 'installation'): Record<string, string>;
  /** To the host where the path is served. */
  send(request: {
    method?: string;
    path: string;
    headers?: Record<string, string>;
    body?: string | Buffer;
  }): Promise<RawAnswer>;
}

const EVERYTHING: readonly Grant[] = [
  { id: 'notifications.publish', resources: ['*'] },
  { id: 'notifications.read', resources: ['*'] },
  { id: 'apps.catalog.read', resources: ['*'] },
  { id: 'apps.create', resources: ['*'] },
  { id: 'search.index', resources: ['self'] },
  { id: 'system.inventory.read', resources: ['*'] },
  { id: 'object-storage.raw', resources: ['self'] },
  { id: 'schedules.manage', resources: ['*'] },
  { id: 'content.collections.manage', resources: ['*'] },
  { id: 'files.user.manage', resources: ['*'] },
  { id: 'mcp.tools.call', resources: ['*'] },
  { id: 'messaging.read', resources: ['*'] },
  { id: 'messaging.resolve', resources: ['*'] },
  { id: 'messaging.send', resources: ['*'] },
];

/** What connected clients use, which is on the connect origin alone. */
const CONNECTED = /^\/mcp(?:[/?]|$)/;

interface InstalledApp {
  readonly frontend: Record<string, string>;
  readonly installation: Record<string, string>;
}

/** Publishes and installs `cast-mighty` and `cast-powerless` for the account `castowner`. */
export async function makeCast(constellation: Constellation, name = 'castowner'): Promise<Cast> {
  const { port, origin, core } = constellation;
  const shellHost = new URL(origin).host;
  const connectHost = `localhost:${port}`;
  const account = await registerAccount(constellation, name);
  const send: Cast['send'] = ({ headers = {}, ...rest }) =>
    rawRequest({
      port,
      ...rest,
      headers: { host: CONNECTED.test(rest.path) ? connectHost : shellHost, ...headers },
    });
  const session = { cookie: account.cookie, origin };
  const node = { authorization: `Bearer ${core.localNode.nodeCredential}` };
  const ingress = { authorization: `Bearer ${core.localIngress?.ingressCredential}` };

  async function post(path: string, headers: Record<string, string>, body: unknown): Promise<Record<string, unknown>> {
    const answer = await send({
      method: 'POST',
      path,
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    assert.ok(answer.status < 300, `${path}: ${answer.status} ${answer.text}`);
    return answer.json as Record<string, unknown>;
  }

  async function install(appId: string, permissions: readonly Grant[]): Promise<InstalledApp> {
    const manifest = testManifest(appId, { workload: { runtime: 'node', entry: 'main.js' } });
    const body = await buildTestPackage({
      manifest,
      files: { 'frontend/index.html': '<!doctype html>', 'workload/main.js': '' },
    });
    const published = await send({
      method: 'PUT',
      path: `/v1/catalog/${appId}/versions/1.0.0`,
      headers: { ...session, 'content-type': 'application/gzip' },
      body,
    });
    assert.equal(published.status, 201, published.text);
    // Among them what no app of an author can request any more.
    await requestAsBefore(constellation, appId, permissions);
    await post('/v1/apps', session, { appId, permissions });
    const launch = await post(`/v1/apps/${appId}/launch`, session, {});
    const appOrigin = String(launch.origin);
    const exchanged = await post(
      '/v1/frontend/exchange',
      { origin: appOrigin },
      { capability: launch.frontendCapability },
    );
    const { rows } = await core.context.pool.query<{ id: string }>(
      'SELECT i.id FROM installations i JOIN accounts a ON a.key = i.account_key WHERE a.name = $1 AND i.app_id = $2',
      [name, appId],
    );
    const started = await post(`/v1/node/installations/${rows[0]?.id}/starts`, node, {});
    return {
      frontend: { authorization: `Bearer ${exchanged.capability}`, origin: appOrigin },
      installation: { authorization: `Bearer ${started.coreServiceCredential}` },
    };
  }

  const mighty = await install(`${name}-mighty`, EVERYTHING);
  const powerless = await install(`${name}-powerless`, []);
  const { token } = await authorToken(account);
  const { tokens } = await connectClient(constellation, account);
  const byKind: Record<CallerKind, Record<string, string>> = {
    anonymous: { origin },
    session,
    node,
    ingress,
    author: { authorization: `Bearer ${token}` },
    connection: { authorization: `Bearer ${tokens.access_token}` },
    ...mighty,
  };
  return { account, send, credentials: (kind) => ({ ...byKind[kind] }), powerless: (kind) => ({ ...powerless[kind] }) };
}
