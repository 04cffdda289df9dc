// A node that core cannot reach: core calls its backends over the connection that the node keeps to core, through a real
// Runtime and a real Gateway.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type InstallationId, RefusalError } from '@platform/contract';
import { cordonNode, listNodes } from '@platform/core/operator';
import { irohAddressText } from '@platform/link';
import { installationRow } from '../../packages/core/test-support/apps.ts';
import type { BackendAnswer, BackendRequest } from '../../packages/core/test-support/internals.ts';
import { type JoinedNode, joinTestNode, testMachine } from '../../packages/core/test-support/joined-node.ts';
import { controlCredential } from '../../packages/core/test-support/node-double.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type Constellation, newNodeKey, startConstellation, type TestCore } from '../support/constellation.ts';
import { freePort } from '../support/free-port.ts';
import { inOwnNetwork } from '../support/own-network.ts';
import { publishTestApp } from '../support/publish.ts';
import { type RealNode, startRealNode } from '../support/real-node.ts';
import { until } from '../support/wait.ts';

const WORKLOAD = `
  const http = process.getBuiltinModule('node:http');
  let left = 0;
  http.createServer((req, res) => {
    if (req.url === '/left') return res.end(String(left));
    if (req.url === '/hold') return res.on('close', () => (left += 1)).write('held');
    req.pipe(res);
  }).listen(Number(process.env.PORT));
`;

let world: Constellation;
/** The core that takes connections over iroh; that of \`world\` does not. */
let core: TestCore;
let joined: JoinedNode;
let node: RealNode | undefined;
let account: TestAccount;
let id: InstallationId;

// iroh searches the local network for a router with UPnP; this one ends here.
inOwnNetwork(import.meta.url, { skip: 'optional', timeout: 400_000 }, () => {
  before(async () => {
    world = await startConstellation();
    core = await world.replica({ linkListen: { host: '127.0.0.1', port: await freePort() }, iroh: { relay: null } });
    joined = await joinTestNode(world, 'behind-nat');
    await startNode();
    await cordonNode(core.context, 'local');
    account = await registerAccount(world, 'caller');
    const workload = { runtime: 'node', entry: 'main.mjs' };
    await publishTestApp(account, 'called', { workload }, { 'workload/main.mjs': WORKLOAD, 'frontend/index.html': '' });
    await account.browser.take('/v1/apps', { body: { appId: 'called' } });
    id = (await installationRow(world, account, 'called')).id;
  });
  after(async () => {
    await node?.stop();
    await world?.close();
  });

  test('a call wakes the backend, and its body comes back whole', async () => {
    const body = randomBytes(3 * 1024 * 1024);
    const answer = await call('/echo', { method: 'POST', body });
    assert.equal(answer.status, 200);
    assert.ok((await answer.read(8 * 1024 * 1024)).equals(body));
  });

  test('the operator sees what carries the link', async () => {
    const rows = new Map((await listNodes(core.context)).map(({ name, carrier }) => [name, carrier]));
    assert.equal(rows.get('behind-nat'), 'iroh');
    assert.equal(rows.get('local'), null);
  });

  test('a call that is given up ends at the backend', async () => {
    const abort = new AbortController();
    const answer = await call('/hold', { signal: abort.signal });
    answer.body.on('error', () => undefined);
    abort.abort();
    await until('the backend to notice', async () => (await (await call('/left')).read(10)).toString() === '1');
  });

  test('a core without iroh, to which the node is not connected, says that its machine does not answer', async () => {
    await unavailable(call('/left', {}, world.core));
    assert.ok(world.log.some(({ fields }) => JSON.stringify(fields).includes('PLATFORM_LINK_CARRIER')));
  });

  test('a node that comes back is reached again', async () => {
    await node?.stop();
    await unavailable(call('/left'));
    // Its credential is from before the stop.
    await joined.renew();
    await startNode();
    assert.equal((await call('/left')).status, 200);
  });

  test('a node registers under its own key only', async () => {
    await node?.stop();
    node = undefined;
    await joined.renew();
    const register = (controlUrl: string) =>
      joined.call('/v1/node/register', {
        ...{ controlUrl, controlCredential, machine: testMachine },
        inboundOrigin: 'https://behind-nat.example',
      });
    const { publicKey } = newNodeKey();
    const own = joined.key.publicKey;
    for (const wrong of [
      irohAddressText({ key: publicKey, service: 'control' }),
      irohAddressText({ key: own, service: 'public' }),
      `${irohAddressText({ key: own, service: 'control' })}?relay=file:///etc/passwd`,
      'iroh:control',
    ])
      assert.equal((await register(wrong)).status, 400, wrong);
  });
});

async function startNode(): Promise<void> {
  node = await startRealNode(
    { port: core.port, origin: core.context.config.origin, core },
    { credential: joined.credential(), key: joined.key },
  );
}

function call(path: string, more: Partial<BackendRequest> = {}, by: TestCore = core): Promise<BackendAnswer> {
  return by.context.backends.call(id, { method: 'GET', path, signal: AbortSignal.timeout(30_000), ...more });
}

async function unavailable(work: Promise<unknown>): Promise<void> {
  const error = await work.then(
    () => assert.fail('it answered'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof RefusalError && error.refusal.code === 'workload_unavailable', String(error));
}
