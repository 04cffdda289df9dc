// Grants of the network reach the node as part of its assignments, and their replacement waits for it.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { type Assignments, assignments, type Grant } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { bearer, install, nodeWorkload, publish } from '../../test-support/apps.ts';
import { networkPolicy } from './policy.ts';

const internet: Grant = { id: 'network.public', resources: ['*'] };
const udp: Grant = { id: 'endpoints.public.udp', resources: ['UDP:*'] };
const storage: Grant = { id: 'object-storage.raw', resources: ['self'] };
const models: Grant = { id: 'intelligence.use', resources: ['local:*', 'other:*'] };
const ports = [
  { name: 'game', protocol: 'udp', containerPort: 27_015 },
  { name: 'voice', protocol: 'udp', containerPort: 'auto' },
] as const;

let platform: Constellation;
let account: TestAccount;

const folder = mkdtempSync(path.join(tmpdir(), 'providers-'));
const file = path.join(folder, 'providers.json');

/** The operator's file, with providers at these addresses. */
function writeProviders(addresses: Readonly<Record<string, string>>): void {
  const providers = Object.entries(addresses).map(([id, baseUrl]) => ({ id, baseUrl, dialect: 'openai' }));
  writeFileSync(file, JSON.stringify({ providers }));
}

before(async () => {
  writeProviders({ local: 'http://127.0.0.1:11434/v1', other: 'https://models.example' });
  platform = await startConstellation({
    config: {
      defaultPlan: 'paid',
      intelligenceFile: file,
      objectStore: {
        endpoint: 'https://store.example',
        ...{ region: 'us-east-1', bucket: 'objects', pathStyle: true },
        credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
      },
    },
  });
  account = await registerAccount(platform, 'sailor');
  await publish(account, 'sailing', {
    permissions: [internet, udp, storage, models],
    workload: nodeWorkload,
    publicPorts: ports,
  });
  await install(account, 'sailing');
});

after(async () => {
  await platform.close();
  rmSync(folder, { recursive: true });
});

/** What the node asks: without `known` it is answered at once. */
async function poll(known?: string): Promise<Assignments> {
  const query = known === undefined ? '' : `?after=${known}`;
  const answer = await bearer(platform, platform.core.localNode.nodeCredential, `/v1/node/assignments${query}`);
  return assignments.parse(answer.json);
}

/** The node asks for what comes after `known`; resolves when core knows that it is carried out. */
async function follow(known: string): Promise<{ readonly answer: Promise<Assignments> }> {
  const { signals } = platform.core.context;
  const confirmed = new Promise<void>((resolve) => {
    const off = signals.on('carried-out', ({ revision }) => {
      if (revision !== known) return;
      off();
      resolve();
    });
  });
  const answer = poll(known);
  await confirmed;
  return { answer };
}

function put(permissions: readonly Grant[]): Promise<unknown> {
  return account.browser.take('/v1/apps/sailing/permissions', { method: 'PUT', body: { permissions } });
}

async function current(): Promise<unknown> {
  const { items } = await poll();
  const { network, udpPorts } = items.find(({ appId }) => appId === 'sailing') ?? assert.fail();
  return { network, udpPorts };
}

test('a port needs its declaration and its grant, and the internet is granted as a whole', () => {
  const of = (...grants: Grant[]) => networkPolicy({ grants, manifest: { publicPorts: [...ports] } }).node;
  assert.deepEqual(of(), { network: { public: false, tunnel: false }, udpPorts: [] });
  assert.deepEqual(of(internet, { id: 'runtime.network-tunnel', resources: ['*'] }).network, {
    public: true,
    tunnel: true,
  });
  assert.equal(of({ id: 'network.public', resources: ['example.org', '1*'] }).network.public, false);
  const granted = (...resources: string[]) =>
    of({ id: 'endpoints.public.udp', resources }).udpPorts.map(({ name }) => name);
  assert.deepEqual(granted('UDP:27015'), ['game']);
  assert.deepEqual(granted('UDP:auto'), ['voice']);
  assert.deepEqual(granted('UDP:*'), ['game', 'voice']);
  assert.deepEqual(granted('UDP:2701', 'TCP:27015', 'UDP:1'), []);
});

test("granting and revoking the network changes the node's assignment", async () => {
  await put([]);
  assert.deepEqual(await current(), { network: { public: false, tunnel: false }, udpPorts: [] });
  const before = await poll();
  await put([internet]);
  assert.deepEqual(await current(), { network: { public: true, tunnel: false }, udpPorts: [] });
  assert.ok(BigInt((await poll()).revision) > BigInt(before.revision));
  await put([udp]);
  assert.deepEqual(await current(), {
    network: { public: false, tunnel: false },
    udpPorts: ports.map(({ name, containerPort }) => ({ name, containerPort })),
  });
});

test("granting and revoking object storage changes the node's assignment", async () => {
  const ofApp = async () => (await poll()).items.find(({ appId }) => appId === 'sailing');
  const inAssignment = async () => (await ofApp())?.objectStorage;
  await put([storage]);
  assert.deepEqual((await ofApp())?.gateway.objectStorageRate, platform.core.context.rates.objectStorage);
  const { revision } = await poll();
  assert.equal(await inAssignment(), true);
  await put([]);
  assert.equal(await inAssignment(), false);
  assert.ok(BigInt((await poll()).revision) > BigInt(revision));
});

test('the policy of a Gateway names the origins of what it may use: its providers and its store', async () => {
  const origins = async () => (await poll()).items.find(({ appId }) => appId === 'sailing')?.gateway.privateOrigins;
  await put([storage]);
  assert.deepEqual(await origins(), ['https://store.example']);
  await put([{ id: 'intelligence.use', resources: ['local:small'] }]);
  assert.deepEqual(await origins(), ['http://127.0.0.1:11434']);
  await put([storage, models]);
  assert.deepEqual(await origins(), ['http://127.0.0.1:11434', 'https://models.example', 'https://store.example']);
  const { revision } = await poll();
  writeProviders({ local: 'http://127.0.0.1:8080/v1' });
  await platform.core.reload();
  assert.deepEqual(await origins(), ['http://127.0.0.1:8080', 'https://store.example']);
  assert.ok(BigInt((await poll()).revision) > BigInt(revision), 'nodes learn of it');
  await put([]);
  assert.equal(await origins(), undefined);
});

test('a replacement is answered when the node that follows has carried it out', async () => {
  await put([internet]);
  const { revision } = await poll();
  const following = await follow(revision);
  let answered = false;
  const begun = performance.now();
  const revoking = put([]).then(() => {
    answered = true;
  });
  const next = await following.answer;
  assert.equal(next.items.find(({ appId }) => appId === 'sailing')?.network.public, false);
  // Time enough for an answer that did not wait.
  for (let round = 0; round < 5; round += 1) await account.browser.take('/v1/auth/session');
  // After two seconds core answers without the node, which a busy machine may need for these requests.
  if (performance.now() - begun < 1_500)
    assert.equal(answered, false, 'it was answered before the node had applied it');
  const last = await follow(next.revision);
  await revoking;
  // The next change, in the next test, answers it.
  void last.answer;
});

test('core waits at most two seconds for a node that applies nothing', async () => {
  const { revision } = await poll();
  const following = await follow(revision);
  const begun = performance.now();
  await put([udp]);
  assert.ok(performance.now() - begun >= 1_900, 'it waited for the node');
  await following.answer;
});
