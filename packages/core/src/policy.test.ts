// Promise: whatever a grant allows on a node, the revocation of that grant takes away, and its answer waits for the node.
// Tried with every permission there is and every member of the policy, so that a new one is tried as well.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, mock, test } from 'node:test';
import {
  type Assignment,
  assignments,
  type Grant,
  gatewayPolicy,
  type PermissionId,
  permissions,
  secretBindingList,
} from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../tests/support/constellation.ts';
import { requestAsBefore } from '../../../tests/support/published-before.ts';
import { bearer, install, nodeWorkload, publish } from '../test-support/apps.ts';
import { controlCredential } from '../test-support/node-double.ts';
import type { Change } from './members/followers.ts';
import { type Granted, Policies } from './policy.ts';

/** Members of an assignment that say what a workload may do, besides the policy of its Gateway. */
const OF_NODE = ['network', 'udpPorts', 'objectStorage', 'intelligence'] as const satisfies (keyof Assignment)[];
/** Members of the policy that follow from no grant. */
const OF_NO_GRANT = ['revision'];

const everything = (Object.keys(permissions) as PermissionId[]).map((id): Grant => ({ id, resources: ['*'] }));

let platform: Constellation;
let account: TestAccount;
let waited: Change[] = [];
const folder = mkdtempSync(path.join(tmpdir(), 'policy-'));

/** An app that uses whatever there is, on a node that offers all of it. */
before(async () => {
  const intelligenceFile = path.join(folder, 'providers.json');
  const provider = { id: 'local', baseUrl: 'http://127.0.0.1:11434/v1', dialect: 'openai' };
  writeFileSync(intelligenceFile, JSON.stringify({ providers: [provider] }));
  platform = await startConstellation({
    config: {
      defaultPlan: 'paid',
      intelligenceFile,
      objectStore: {
        endpoint: 'https://store.example',
        ...{ region: 'us-east-1', bucket: 'objects', pathStyle: true },
        credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
      },
    },
  });
  const registered = await bearer(platform, platform.core.localNode.nodeCredential, '/v1/node/register', {
    controlUrl: 'http://127.0.0.1:9/control',
    controlCredential,
    inboundOrigin: platform.core.context.config.nodeOrigin,
    publicSide: { url: 'http://127.0.0.1:9', credential: 'pni_of-the-test-of-the-policy' },
  });
  assert.equal(registered.status, 204, registered.text);
  account = await registerAccount(platform, 'holder');
  await publish(account, 'holding', {
    workload: nodeWorkload,
    publicEndpoints: ['GET:/open'],
    publicPorts: [{ name: 'game', protocol: 'udp', containerPort: 27_015 }],
    secretSlots: [{ name: 'slot', origin: 'https://api.example', pathPrefix: '/', methods: ['GET'] }],
  });
  // Among them what no app of an author can request any more.
  await requestAsBefore(platform, 'holding', everything);
  await install(account, 'holding', everything);
  await account.fetch('/v1/account/secrets/token', { method: 'PUT', body: { value: 'a-secret-value' } });
  const [slot] = secretBindingList.parse(await account.browser.take('/v1/apps/holding/secret-bindings')).items;
  const body = { secret: 'token', declarationHash: slot?.declarationHash };
  await account.browser.take('/v1/apps/holding/secret-bindings/slot', { method: 'PUT', body });
  mock.method(platform.core.context.followers, 'allCarriedOut', async (change: Change) => void waited.push(change));
});

after(async () => {
  mock.restoreAll();
  await platform.close();
  rmSync(folder, { recursive: true });
});

/** What the node is given now, but for the revisions. */
async function given(): Promise<{ revision: string; members: Map<string, unknown> }> {
  const answer = await bearer(platform, platform.core.localNode.nodeCredential, '/v1/node/assignments');
  const { revision, items } = assignments.parse(answer.json);
  const { gateway, ...assignment } = items.find(({ appId }) => appId === 'holding') ?? assert.fail();
  const { revision: _, ...policy } = gateway;
  const ofGateway = Object.entries(policy).map(([name, value]) => [`gateway.${name}`, value] as const);
  return { revision, members: new Map<string, unknown>([...Object.entries(assignment), ...ofGateway]) };
}

/** What the answer waited for. */
async function put(grants: readonly Grant[]): Promise<Change[]> {
  waited = [];
  await account.browser.take('/v1/apps/holding/permissions', { method: 'PUT', body: { permissions: grants } });
  return waited;
}

test('a revocation waits for the node when it takes anything from it, and does not when it takes nothing', async () => {
  const taken = new Set<string>();
  for (const { id } of everything) {
    await put(everything);
    const former = await given();
    const changes = await put(everything.filter((grant) => grant.id !== id));
    const next = await given();
    const names = [...new Set([...former.members.keys(), ...next.members.keys()])];
    const changed = names.filter(
      (name) => JSON.stringify(former.members.get(name)) !== JSON.stringify(next.members.get(name)),
    );
    for (const name of changed) taken.add(name);
    if (changed.length === 0) {
      assert.deepEqual(changes, [], `${id} is checked at each request`);
      continue;
    }
    const [change, ...others] = changes;
    assert.ok(change !== undefined && others.length === 0, `${id}: ${changed.join(', ')} changed, and nobody waits`);
    assert.deepEqual(change.nodeIds, [platform.core.localNode.nodeId], id);
    assert.equal(String(change.revision), next.revision, id);
    assert.equal(change.topology !== null, id === 'endpoints.public', id);
  }
  const ofGateway = Object.keys(gatewayPolicy.shape).filter((name) => !OF_NO_GRANT.includes(name));
  const expected = [...OF_NODE, ...ofGateway.map((name) => `gateway.${name}`)];
  assert.deepEqual([...taken].sort(), expected.sort(), 'members that some revocation takes away');
});

test('a paused account is allowed nothing through its Gateways, and all of it again when it resumes', async () => {
  await put(everything);
  const ofGateway = async () => [...(await given()).members.keys()].filter((name) => name.startsWith('gateway.'));
  const allowed = await ofGateway();
  assert.ok(allowed.length > 3, allowed.join(', '));
  await account.browser.take('/v1/runtime/pause', { body: {} });
  assert.deepEqual(await ofGateway(), []);
  await account.browser.take('/v1/runtime/resume', { body: {} });
  assert.deepEqual(await ofGateway(), allowed);
});

test('a policy is the parts of all domains together, and no two of them say the same', () => {
  const policies = new Policies();
  const granted: Granted = { appId: 'any', grants: [], manifest: {} };
  const closed = { network: { public: false, tunnel: false }, udpPorts: [], objectStorage: false };
  assert.deepEqual(policies.of(granted, null), { ...closed, gateway: {} }, 'no domain allows anything');
  const one = () => ({ gateway: { objectStorage: true }, privateOrigins: ['https://a.example'] });
  const other = () => ({
    node: { objectStorage: true },
    gateway: { outbound: { slot: 'word' } },
    privateOrigins: ['https://b.example', 'https://a.example'],
  });
  policies.follow([{ policy: one }, {}, { policy: other }]);
  const gateway = { objectStorage: true, outbound: { slot: 'word' } };
  const privateOrigins = ['https://a.example', 'https://b.example'];
  assert.deepEqual(policies.of(granted, null), {
    ...{ ...closed, objectStorage: true },
    gateway: { ...gateway, privateOrigins },
  });
  policies.follow([{ policy: one }, { policy: other }, { policy: one }]);
  assert.throws(() => policies.of(granted, null), /objectStorage/);
});
