// Every listener that openapi.json describes, with a caller of every kind: core, a Gateway with all of its services, the node of
// a backend, and an Ingress. What stands behind them answers.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import {
  endpointTicket,
  type GatewayPolicy,
  type Grant,
  type LaunchDescriptor,
  type SecretBinding,
} from '@platform/contract';
import { newEnvelopeKey } from '@platform/link';
import { joinTestIngress } from '../../packages/core/test-support/ingress.ts';
import { REGION, STORE_CREDENTIALS, startFakeStore } from '../../packages/gateway/test-support/fake-store.ts';
import { authorToken } from './author-token.ts';
import { registerAccount, signIn, type TestAccount } from './client.ts';
import { connectClient } from './connected-client.ts';
import { type Constellation, startConstellation } from './constellation.ts';
import { freePort } from './free-port.ts';
import { startGateway } from './gateway.ts';
import { installTestApp } from './installed-app.ts';
import { installPublicApp, startRealIngress } from './real-ingress.ts';
import { startRealNode } from './real-node.ts';
import { startScriptedProvider } from './scripted-provider.ts';
import { startTlsUpstream } from './tls-upstream.ts';
import { until } from './wait.ts';

/** Who calls, as openapi.json names the credentials; `none` has none. */
export type ApiCaller =
  | 'none'
  | 'session'
  | 'author'
  | 'frontend'
  | 'installation'
  | 'gateway'
  | 'connection'
  | 'node'
  | 'ingress'
  | 'client'
  | 'providerKey'
  | 'storageToken';

/** The listeners, as openapi.json names their servers. */
export type ApiServer = 'platform' | 'connect' | 'gateway' | 'objectStorage' | 'node' | 'app';

export interface ApiWorld {
  readonly platform: Constellation;
  /** The port of each listener on 127.0.0.1, and the `Host` under which it is called. */
  readonly servers: Readonly<Record<ApiServer, { readonly port: number; readonly host: string }>>;
  /** The header fields of a caller. Of callers that sign in: of a new credential each time. */
  credentials(caller: ApiCaller): Promise<Readonly<Record<string, string>>>;
  /** Values of parameters by name that lead to something. */
  readonly known: Readonly<Record<string, readonly string[]>>;
  close(): Promise<void>;
}

const BUCKET = 'objects-of-apps';
const SLOT = 'service';
const OBJECT = 'photo.jpg';
/** Answers everything. */
const BACKEND = `
  import http from 'node:http';
  http.createServer((req, res) => { req.resume().on('end', () => res.setHeader('content-type', 'text/plain').end('answered')); }).listen(Number(process.env.PORT));
`;
const WORKFLOW = { definition: 'order', version: 1, input: {}, idempotencyKey: 'first', durationSeconds: 3_600 };

function grants(upstream: string): Grant[] {
  const anything = (id: Grant['id']): Grant => ({ id, resources: ['*'] });
  return [
    ...(['notifications.publish', 'notifications.read', 'apps.catalog.read', 'system.inventory.read'] as const).map(
      anything,
    ),
    { id: 'search.index', resources: ['self'] },
    { id: 'object-storage.raw', resources: ['self'] },
    { id: 'intelligence.use', resources: ['openai:*', 'anthropic:*'] },
    { id: 'secrets.use', resources: [SLOT] },
    { id: 'network.connect', resources: [upstream] },
  ];
}

export async function startApiWorld(): Promise<ApiWorld> {
  const folder = await mkdtemp(path.join(tmpdir(), 'api-world-'));
  const [store, provider, upstream] = await Promise.all([
    startFakeStore(BUCKET),
    startScriptedProvider(),
    startTlsUpstream(),
  ]);
  const intelligenceFile = path.join(folder, 'providers.json');
  await writeFile(path.join(folder, 'key'), 'sk-of-the-platform', { mode: 0o600 });
  const of = (id: string, dialect: string, baseUrl: string) => ({ id, dialect, baseUrl, platformKeyFile: 'key' });
  const providers = [of('openai', 'openai', `${provider.origin}/v1`), of('anthropic', 'anthropic', provider.origin)];
  const rates = { requestsPerMinute: 1_000_000, monthlyTokens: 1_000_000_000_000 };
  await writeFile(intelligenceFile, JSON.stringify({ providers, ...rates }));
  const nodePort = await freePort();
  const platform = await startConstellation({
    config: {
      intelligenceFile,
      masterAccount: 'castmaster',
      defaultPlan: 'paid',
      nodeOrigin: `http://node.platform.localhost:${nodePort}`,
      objectStore: {
        endpoint: store.origin,
        region: REGION,
        bucket: BUCKET,
        credentials: STORE_CREDENTIALS,
        pathStyle: true,
      },
      outbound: { ca: upstream.ca },
    },
  });
  const { localNode } = platform.core;
  const operator = await registerAccount(platform, 'castmaster');
  const author = await registerAccount(platform, 'castauthor');
  const owner = await registerAccount(platform, 'castowner');
  const slot = {
    name: SLOT,
    origin: upstream.origin,
    pathPrefix: '/base',
    methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
  };
  const app = await installTestApp(platform, owner, 'caller', grants(upstream.origin), { secretSlots: [slot] });
  await operator.browser.take('/v1/apps', { body: { appId: 'caller', permissions: [] } });
  await bind(owner);
  const node = await startRealNode(platform, { credential: localNode.nodeCredential, listenPort: nodePort });
  const ingress = await startRealIngress(platform);
  const open = await installPublicApp(owner, 'open', { workload: BACKEND, routes: ['GET:/*', 'POST:/*', 'PUT:/*'] });
  await until('the Ingress to know the app', async () => (await ingress.get(open.hostname, '/')).status === 200);

  store.objects.set(`/${BUCKET}/installations/${app.installationId}/${OBJECT}`, Buffer.from('a photo'));
  const envelopeKey = await newEnvelopeKey();
  await app.restart(envelopeKey.publicKey);
  const gatewayCredential = `pgw_${'a'.repeat(43)}`;
  const { gateway: policy } = await assignmentOf(app.installationId);
  const gateway = await startGateway({
    installationId: app.installationId,
    appOrigin: app.origin,
    coreOrigin: `http://127.0.0.1:${platform.port}`,
    coreHost: new URL(platform.origin).host,
    gatewayCredential,
    coreServiceCredential: app.credential,
    envelopeKey,
    policy,
    outbound: { privateOrigins: [upstream.origin, store.origin], ca: upstream.ca },
    listen: { host: '127.0.0.1', port: 0 },
    storage: { listen: { host: '127.0.0.1', port: 0 } },
    inbound: { socketPath: path.join(folder, 'no-workload-listens-here') },
    onActivity: () => undefined,
    log: () => undefined,
  });
  const listening = portOf(gateway.address());
  const storage = portOf(gateway.storageAddress());
  const created = await app.call('/v1/services/workflows', { body: WORKFLOW });
  assert.equal(created.status, 201, created.text);
  const { run } = created.json as { readonly run: { readonly id: string } };
  const launch = async () => owner.browser.take<LaunchDescriptor>('/v1/apps/open/launch', { method: 'POST' });
  const [, ticket = ''] = ((await launch()).backend?.endpointTicket ?? '').split('.');
  const { url } = endpointTicket.parse(JSON.parse(Buffer.from(ticket, 'base64url').toString()));

  async function assignmentOf(installationId: string) {
    const answer = await app.call('/v1/node/assignments', {
      headers: { authorization: `Bearer ${localNode.nodeCredential}` },
    });
    const { items } = answer.json as { readonly items: { installationId: string; gateway: GatewayPolicy }[] };
    return items.find((item) => item.installationId === installationId) ?? assert.fail('it was placed');
  }

  async function bind(account: TestAccount): Promise<void> {
    await account.fetch('/v1/account/secrets/token', { method: 'PUT', body: { value: 'a-secret' } });
    const list = '/v1/apps/caller/secret-bindings';
    const { items } = await account.browser.take<{ items: SecretBinding[] }>(list);
    const body = { secret: 'token', declarationHash: items[0]?.declarationHash };
    await account.browser.take(`${list}/${SLOT}`, { method: 'PUT', body });
  }

  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const callers: Readonly<Record<ApiCaller, () => Promise<Readonly<Record<string, string>>>>> = {
    none: async () => ({ origin: platform.origin }),
    session: async () => ({
      cookie: (await signIn(platform, operator.authenticator)).cookie,
      origin: platform.origin,
    }),
    author: async () => bearer((await authorToken(author)).token),
    frontend: async () => ({ ...bearer((await app.openFrontend()).capability), origin: app.origin }),
    installation: async () => bearer(gatewayCredential),
    gateway: async () => bearer(app.credential),
    connection: async () => bearer((await connectClient(platform, owner)).tokens.access_token),
    node: async () => bearer(localNode.nodeCredential),
    // The real one takes a new credential when it starts; this is one of another machine.
    ingress: async () => bearer((await joinTestIngress(platform, randomUUID())).ingressCredential),
    client: async () => bearer((await launch()).backend?.capability ?? assert.fail('it has a backend')),
    providerKey: async () => ({ 'x-api-key': gatewayCredential }),
    storageToken: async () => ({ 'x-amz-security-token': gatewayCredential }),
  };
  const loopback = (port: number) => ({ port, host: `127.0.0.1:${port}` });
  return {
    platform,
    servers: {
      platform: { port: platform.port, host: new URL(platform.origin).host },
      connect: { port: platform.port, host: `localhost:${platform.port}` },
      gateway: loopback(listening),
      objectStorage: loopback(storage),
      node: { port: nodePort, host: `node.platform.localhost:${nodePort}` },
      app: { port: ingress.port, host: open.hostname },
    },
    credentials: (caller) => callers[caller](),
    known: {
      appId: ['caller'],
      version: ['1.0.0'],
      key: [OBJECT],
      provider: ['openai', 'anthropic'],
      slot: [SLOT],
      workflowId: [run.id],
      step: ['pay'],
      endpointId: [/\/e\/([^/]+)/.exec(url)?.[1] ?? assert.fail(url)],
    },
    async close() {
      await Promise.all([gateway.close(), ingress.stop(), node.stop()]);
      await platform.close();
      await Promise.all([store.close(), provider.close(), upstream.close()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function portOf(address: ReturnType<Awaited<ReturnType<typeof startGateway>>['address']>): number {
  return address !== null && typeof address === 'object' ? address.port : assert.fail('it listens on TCP');
}
