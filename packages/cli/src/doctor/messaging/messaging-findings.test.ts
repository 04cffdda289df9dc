// What the doctor says of messages to other servers, beside a homeserver and a bridge that are as an operator left them.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { type TestContext, test } from 'node:test';
import { startTlsUpstream } from '../../../../../tests/support/tls-upstream.ts';
import { homeserverSettings, platformSettings } from '../../messaging/settings-to-paste.ts';
import { findRegistration, newRegistration, writeRegistration } from '../../messaging-bridge/registration.ts';
import { messagingFindings } from './messaging-findings.ts';

type Settings = Parameters<typeof messagingFindings>[0];

const TOKEN = 'token-of-core-0123456789abcdef-0123456789';

async function listening(t: TestContext, handle: RequestListener): Promise<string> {
  const server = createServer(handle);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

interface Homeserver {
  versions: readonly string[];
  knowsRegistration: boolean;
  bridge: string;
  reachesBridge: boolean;
  token: string;
  /** Why the bridge cannot work. */
  trouble: string | null;
}

async function world(t: TestContext) {
  const folder = mkdtempSync(path.join(tmpdir(), 'platform-messaging-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const federated = await startTlsUpstream();
  t.after(() => federated.close());
  const serverName = `127.0.0.1:${federated.port}`;
  const state: Homeserver & { name: string } = {
    versions: ['v1.6', 'v1.11'],
    knowsRegistration: true,
    bridge: `@platform-messaging:${serverName}`,
    reachesBridge: true,
    token: TOKEN,
    trouble: null,
    name: serverName,
  };
  federated.answer = (req, res) =>
    res.end(JSON.stringify(req.url === '/_matrix/key/v2/server' ? { server_name: state.name } : { server: {} }));
  const homeserverUrl = await listening(t, (req, res) => {
    const known = state.knowsRegistration && req.headers.authorization === `Bearer ${asToken}`;
    const send = (status: number, body: object) => res.writeHead(status).end(JSON.stringify(body));
    if (req.url === '/_matrix/client/versions') send(200, { versions: state.versions });
    else if (!known) send(401, { errcode: 'M_UNKNOWN_TOKEN' });
    else if (req.url?.endsWith('/whoami')) send(200, { user_id: state.bridge });
    else send(state.reachesBridge ? 200 : 502, {});
  });
  const bridgeUrl = await listening(t, (req, res) => {
    const failure = { version: 1, error: { code: 'unavailable', message: state.trouble } };
    if (req.headers.authorization !== `Bearer ${state.token}`) res.writeHead(401).end('{}');
    else if (state.trouble === null) res.writeHead(400).end('{}');
    else res.writeHead(503).end(JSON.stringify(failure));
  });
  const config: Settings = {
    messaging: {
      serverName,
      bridge: { kind: 'configured', url: bridgeUrl, token: TOKEN },
      federation: null,
      clientUrl: null,
    },
    messagingBridge: {
      homeserverUrl,
      registrationFile: path.join(folder, 'messaging', 'registration.yaml'),
      listen: { host: '127.0.0.1', port: 8390 },
      storeDirectory: folder,
    },
    outbound: { ca: federated.ca },
  };
  const registration = newRegistration(config);
  const asToken = registration.as_token;
  const write = () => writeRegistration(config.messagingBridge.registrationFile, registration);
  return { config, state, write, registration };
}

const said = async (config: Settings) =>
  (await messagingFindings(config)).map(({ verdict, found, cure = '' }) => `${verdict}: ${found} ${cure}`);

test('a homeserver and a bridge that reach each other, and are reached by others, are good', async (t) => {
  const { config, write } = await world(t);
  write();
  const { messaging, messagingBridge } = config;
  const url = messaging.bridge.kind === 'configured' ? messaging.bridge.url : '';
  assert.deepEqual(await said(config), [
    `good: core reaches the bridge at ${url} `,
    `good: the bridge and the homeserver at ${messagingBridge.homeserverUrl} reach each other `,
    `good: other servers reach the homeserver at ${messaging.serverName} `,
  ]);
});

test('each thing that is amiss is named, with what to do', async (t) => {
  const { config, state, write } = await world(t);
  const file = config.messagingBridge.registrationFile;
  const amiss = async (pattern: RegExp, changed: Settings = config) => {
    const lines = (await said(changed)).filter((line) => !line.startsWith('good'));
    assert.match(lines.join('\n'), pattern);
    assert.equal(lines.length, 1, lines.join('\n'));
  };
  await amiss(/registration\.yaml is missing .*messaging init/);
  write();
  const change = async (part: Partial<typeof state>, pattern: RegExp) => {
    const former = { ...state };
    Object.assign(state, part);
    await amiss(pattern);
    Object.assign(state, former);
  };
  await change({ token: 'another' }, /does not accept PLATFORM_MESSAGING_BRIDGE_TOKEN/);
  await change({ trouble: 'The store is an old copy.' }, /cannot work: The store is an old copy .*something is amiss/);
  await change({ versions: ['r0.6.1', 'v1.6'] }, /too old/);
  await change({ knowsRegistration: false }, /app_service_config_files/);
  await change({ bridge: '@platform-messaging:elsewhere' }, /must be the same/);
  await change({ reachesBridge: false }, /does not reach the bridge at http:\/\/127\.0\.0\.1:8390/);
  await change({ name: 'elsewhere' }, /calls itself elsewhere/);
  chmodSync(file, 0o644);
  await amiss(/^warning: everybody on this machine can read/);
  chmodSync(file, 0o600);
  const without = { ...config, messagingBridge: { ...config.messagingBridge, homeserverUrl: 'http://127.0.0.1:1' } };
  await amiss(/the homeserver at http:\/\/127\.0\.0\.1:1 does not answer/, without);
  const incomplete = { kind: 'incomplete', missing: 'PLATFORM_MESSAGING_BRIDGE_URL' } as const;
  await amiss(/PLATFORM_MESSAGING_BRIDGE_URL is not set/, {
    ...config,
    messaging: { ...config.messaging, bridge: incomplete },
  });
  const renamed = { ...config, messaging: { ...config.messaging, serverName: `${config.messaging.serverName}9` } };
  assert.match((await said(renamed)).join('\n'), /does not reserve the names of accounts/);
});

test('nothing is said where nothing of it is configured', async (t) => {
  const { config } = await world(t);
  const messaging = { ...config.messaging, bridge: { kind: 'none' } } as const;
  assert.deepEqual(
    await said({ ...config, messaging, messagingBridge: { ...config.messagingBridge, homeserverUrl: null } }),
    [],
  );
});

test('a registration is written once, for its owner alone, and what is to be pasted names it', async (t) => {
  const { config, registration, write } = await world(t);
  const file = config.messagingBridge.registrationFile;
  write();
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.throws(() => writeRegistration(file, newRegistration(config)), { code: 'EEXIST' });
  const found = findRegistration(file);
  assert.equal(found.kind === 'found' && found.registration.as_token, registration.as_token);
  assert.notEqual(registration.as_token, registration.hs_token);
  const { namespaces, ...rest } = JSON.parse(readFileSync(file, 'utf8'));
  assert.deepEqual([rest.rate_limited, rest['io.element.msc4190'], rest.url], [false, true, 'http://127.0.0.1:8390']);
  const users = new RegExp(`^${namespaces.users[0].regex}$`);
  const { serverName } = config.messaging;
  assert.ok(users.test(`@ada:${serverName}`) && users.test(`@ada-2:${serverName}`));
  assert.ok(!users.test(`@platform_messaging:${serverName}`) && !users.test('@ada:elsewhere'));
  assert.match(homeserverSettings(config), new RegExp(`"${file}"`));
  assert.match(homeserverSettings(config), new RegExp(`server_name: "${serverName}"`));
  const pasted = platformSettings(config);
  for (const name of ['SERVER_NAME', 'HOMESERVER_URL', 'BRIDGE_URL', 'BRIDGE_TOKEN', 'FEDERATION', 'CLIENT_URL'])
    assert.match(pasted, new RegExp(`PLATFORM_MESSAGING_${name}=`));
  assert.ok(!pasted.includes(TOKEN) && !pasted.includes(registration.as_token));
});
