// Who becomes a node, and how long what it was given is worth something.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Assignments, limits, type NodeCredential, RefusalError, readEnrolmentToken } from '@platform/contract';
import { publicKeyText } from '@platform/link';
import { registerAccount } from '../../../../tests/support/client.ts';
import { type Constellation, newNodeKey, startConstellation } from '../../../../tests/support/constellation.ts';
import { problemCode, type RawAnswer } from '../../../../tests/support/raw-http.ts';
import { bearer, install, installationRow, nodeWorkload, publish } from '../../test-support/apps.ts';
import { anonymous, enrolmentSecret, joinBody, joinTestNode, proofBody } from '../../test-support/joined-node.ts';
import { createAdoptionToken } from './join-node.ts';

let platform: Constellation;
let now = new Date('2026-11-21T10:00:00.000Z');

before(async () => {
  platform = await startConstellation({ clock: () => now });
});
after(() => platform.close());

function assertRefused(answer: RawAnswer, status: number, code: string): void {
  assert.deepEqual([answer.status, problemCode(answer)], [status, code], answer.text);
}

function join(body: object): Promise<RawAnswer> {
  return anonymous(platform, '/v1/node/join', body);
}

function later(seconds: number): void {
  now = new Date(now.getTime() + seconds * 1_000);
}

async function labelsOf(id: string): Promise<string[] | undefined> {
  const { rows } = await platform.core.context.pool.query<{ labels: string[] }>(
    'SELECT labels FROM nodes WHERE id = $1',
    [id],
  );
  return rows[0]?.labels;
}

test('a token makes one machine a node; that machine may ask again, no other may', async () => {
  const token = await enrolmentSecret(platform);
  const [machine, thief] = [newNodeKey(), newNodeKey()];
  const first = await join(joinBody(platform, machine, token, { name: 'first' }));
  assert.equal(first.status, 201, first.text);
  assertRefused(await join(joinBody(platform, thief, token, { name: 'thief' })), 401, 'unauthenticated');
  const again = await join(joinBody(platform, machine, token, { name: 'first' }));
  assert.equal(again.status, 201, again.text);
  const [one, two] = [first.json as NodeCredential, again.json as NodeCredential];
  assert.equal(one.nodeId, two.nodeId);
  assertRefused(await bearer(platform, one.nodeCredential, '/v1/node/assignments'), 401, 'unauthenticated');
  assert.equal((await bearer(platform, two.nodeCredential, '/v1/node/assignments')).status, 200);
});

test('of ten machines that use one token at the same time one becomes a node', async () => {
  const token = await enrolmentSecret(platform);
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, index) => join(joinBody(platform, newNodeKey(), token, { name: `racer-${index}` }))),
  );
  assert.equal(answers.filter(({ status }) => status === 201).length, 1);
});

test('a token ends after an hour, and one that was never given is none', async () => {
  const token = await enrolmentSecret(platform);
  later(limits.nodeTokenSeconds.value);
  assertRefused(await join(joinBody(platform, newNodeKey(), token, { name: 'late' })), 401, 'unauthenticated');
  const invented = `pne_${'A'.repeat(43)}`;
  assertRefused(await join(joinBody(platform, newNodeKey(), invented, { name: 'late' })), 401, 'unauthenticated');
});

test('who joins proves that the key is its own, for this platform', async () => {
  const token = await enrolmentSecret(platform);
  const [machine, other] = [newNodeKey(), newNodeKey()];
  const elsewhere = joinBody({ ...platform, origin: 'http://other.platform.localhost:1' }, machine, token);
  for (const body of [
    joinBody(platform, machine, token, { publicKey: publicKeyText(other.publicKey) }),
    joinBody(platform, machine, token, { signature: 'A'.repeat(86) }),
    elsewhere,
  ])
    assertRefused(await join(body), 401, 'unauthenticated');
  // The neutral element: a key that anybody can sign for.
  const weak = publicKeyText(Buffer.concat([Buffer.from([1]), Buffer.alloc(31)]));
  assertRefused(await join(joinBody(platform, machine, token, { publicKey: weak })), 400, 'invalid_request');
  assert.equal((await join(joinBody(platform, machine, token, { name: 'honest' }))).status, 201, 'it was not used up');
});

test('a node whose key is lost gets another by a token that names it, and stays what it is; one that answers does not', async () => {
  const node = await joinTestNode(platform, 'keyless', { labels: ['platform-hosted', 'gpu'] });
  const { context } = platform.core;
  const adoption = async () => readEnrolmentToken((await createAdoptionToken(context, 'keyless')).token)?.secret ?? '';
  const isRefused = (code: string) => (error: unknown) => error instanceof RefusalError && error.refusal.code === code;
  await assert.rejects(adoption(), isRefused('invalid_request'));
  await assert.rejects(createAdoptionToken(context, 'local'), isRefused('invalid_request'));
  await assert.rejects(createAdoptionToken(context, 'nobody'), isRefused('not_found'));
  await context.pool.query('UPDATE nodes SET lost_at = now() WHERE id = $1', [node.id]);
  const [first, second] = [await adoption(), await adoption()];
  await node.heartbeat();
  const heir = newNodeKey();
  assertRefused(await join(joinBody(platform, heir, first, { name: 'keyless' })), 400, 'invalid_request');
  await context.pool.query('UPDATE nodes SET lost_at = now() WHERE id = $1', [node.id]);
  const answer = await join(joinBody(platform, heir, first, { name: 'whatever it calls itself' }));
  assert.equal(answer.status, 400, 'a name that is none is refused as ever');
  const adopted = await join(joinBody(platform, heir, first, { name: 'another' }));
  assert.equal(adopted.status, 201, adopted.text);
  assert.equal((adopted.json as NodeCredential).nodeId, node.id);
  assert.deepEqual(await labelsOf(node.id), ['platform-hosted', 'gpu']);
  assertRefused(await node.call('/v1/node/assignments'), 401, 'unauthenticated');
  await assert.rejects(node.renew(), 'the former key is nobody’s');
  const thief = await join(joinBody(platform, newNodeKey(), first, { name: 'another' }));
  assertRefused(thief, 401, 'unauthenticated');
  // Lost still, as long as it has not sent a heartbeat: whoever joins last has the node.
  const last = newNodeKey();
  assert.equal((await join(joinBody(platform, last, second, { name: 'another' }))).status, 201);
  assertRefused(
    await bearer(platform, (adopted.json as NodeCredential).nodeCredential, '/v1/node/assignments'),
    401,
    'unauthenticated',
  );
});

test('what a node may be used for is said by the operator, not by the machine', async () => {
  const plain = await joinTestNode(platform, 'plain', { labels: [] });
  assert.deepEqual(await labelsOf(plain.id), ['self-hosted']);
  const labelled = await joinTestNode(platform, 'labelled', { labels: ['platform-hosted', 'eu'] });
  assert.deepEqual(await labelsOf(labelled.id), ['platform-hosted', 'eu']);
  const token = await enrolmentSecret(platform);
  const body = joinBody(platform, newNodeKey(), token, { labels: ['platform-hosted'] });
  assertRefused(await join(body), 400, 'invalid_request');
});

test('two nodes never have one name', async () => {
  await joinTestNode(platform, 'unique');
  const token = await enrolmentSecret(platform);
  assertRefused(await join(joinBody(platform, newNodeKey(), token, { name: 'unique' })), 400, 'invalid_request');
});

test('a renewal ends the former credential everywhere, also for a question that waits', async () => {
  const node = await joinTestNode(platform, 'renewing');
  const replica = await platform.replica();
  const elsewhere = { port: replica.port, origin: replica.context.config.origin };
  const stolen = node.credential();
  const { revision } = (await node.call('/v1/node/assignments')).json as Assignments;
  assert.equal((await bearer(elsewhere, stolen, '/v1/node/assignments')).status, 200, 'the replica remembers it');
  const signalled = new Promise((resolve) => replica.context.signals.on('node-credential-replaced', resolve));
  const waiting = bearer(platform, stolen, `/v1/node/assignments?after=${revision}`);
  await node.renew();
  assertRefused(await waiting, 401, 'unauthenticated');
  assertRefused(await bearer(platform, stolen, '/v1/node/assignments'), 401, 'unauthenticated');
  await signalled;
  assertRefused(await bearer(elsewhere, stolen, '/v1/node/assignments'), 401, 'unauthenticated');
  assert.equal((await node.heartbeat()).status, 200);
});

test('a credential that was not renewed ends after an hour', async () => {
  const node = await joinTestNode(platform, 'sleepy');
  later(limits.nodeCredentialSeconds.value);
  assertRefused(await node.heartbeat(), 401, 'unauthenticated');
  await node.renew();
  assert.equal((await node.heartbeat()).status, 200);
});

test('a proof counts once, for a minute, for its own node and with its own key', async () => {
  const [node, other] = [await joinTestNode(platform, 'prover'), await joinTestNode(platform, 'other-prover')];
  const prove = (body: object) => anonymous(platform, '/v1/node/credential', body);
  const good = await proofBody(platform, node.key);
  const answers = await Promise.all(Array.from({ length: 5 }, () => prove(good)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401, 401, 401, 401]);
  const stale = await proofBody(platform, node.key);
  later(limits.nodeChallengeSeconds.value);
  assertRefused(await prove(stale), 401, 'unauthenticated');
  const swapped = { publicKey: publicKeyText(other.key.publicKey) };
  assertRefused(await prove(await proofBody(platform, node.key, swapped)), 401, 'unauthenticated');
  assertRefused(await prove(await proofBody(platform, newNodeKey())), 401, 'unauthenticated');
  assertRefused(await prove(await proofBody(platform, node.key, { nonce: 'invented' })), 401, 'unauthenticated');
});

test('secrets of nodes are known to the database by their hash only', async () => {
  const node = await joinTestNode(platform, 'hashed');
  const token = await enrolmentSecret(platform);
  const { pool } = platform.core.context;
  const { rows } = await pool.query<{ line: string }>(
    'SELECT n::text AS line FROM nodes n UNION ALL SELECT t::text FROM node_tokens t',
  );
  const dump = rows.map(({ line }) => line).join();
  for (const secret of [node.credential(), token])
    assert.ok(!dump.includes(secret) && !dump.includes(Buffer.from(secret).toString('hex')));
});

test('every machine with a core is a node of its own', async () => {
  const machine = () => ({
    publicKey: newNodeKey().publicKey,
    name: 'core',
    inherits: true,
    leased: true,
    runtime: true,
  });
  const replicas = [await platform.replica({ localNode: machine() }), await platform.replica({ localNode: machine() })];
  const ids = replicas.map(({ localNode }) => localNode.nodeId);
  assert.equal(new Set([...ids, platform.core.localNode.nodeId]).size, 3);
  for (const { localNode } of replicas)
    assert.equal((await bearer(platform, localNode.nodeCredential, '/v1/node/assignments')).status, 200);
});

test('a data folder from before nodes had keys keeps its node, and with it what is placed there', async () => {
  const own = await startConstellation();
  const account = await registerAccount(own, 'veteran');
  await publish(account, 'aged', { workload: { ...nodeWorkload, volume: true } });
  await install(account, 'aged');
  const { nodeId } = own.core.localNode;
  await own.core.context.pool.query("UPDATE nodes SET public_key = NULL, name = 'local'");
  const here = { publicKey: newNodeKey().publicKey, name: 'machine', leased: false, runtime: true };
  const fresh = await own.replica({ localNode: { ...here, publicKey: newNodeKey().publicKey, inherits: false } });
  assert.notEqual(fresh.localNode.nodeId, nodeId, 'an empty data folder takes nothing over');
  const upgraded = await own.replica({ localNode: { ...here, inherits: true } });
  assert.equal(upgraded.localNode.nodeId, nodeId);
  assert.equal((await installationRow(own, account, 'aged')).node_id, nodeId);
  const again = await own.replica({ localNode: { ...here, inherits: true } });
  assert.equal(again.localNode.nodeId, nodeId);
  await own.close();
});

test('a machine whose key was lost is not replaced by a new node, and goes on as the one that it was', async () => {
  const own = await startConstellation();
  const machine = (more: object) => ({
    publicKey: newNodeKey().publicKey,
    name: 'local',
    inherits: true,
    leased: true,
    runtime: true,
    lostKey: 'refuse' as const,
    ...more,
  });
  const refused = { code: 'node_key_missing', message: /the node local/ };
  const { nodeId } = own.core.localNode;
  await assert.rejects(own.replica({ localNode: machine({}) }), refused);
  await assert.rejects(own.replica({ localNode: machine({ name: 'renamed', leased: false }) }), refused);
  const other = await own.replica({ localNode: machine({ name: 'another-machine' }) });
  assert.notEqual(other.localNode.nodeId, nodeId);
  const adopting = machine({ lostKey: 'adopt' });
  assert.equal((await own.replica({ localNode: adopting })).localNode.nodeId, nodeId);
  assert.equal((await own.replica({ localNode: { ...adopting, lostKey: 'refuse' } })).localNode.nodeId, nodeId);
  const fresh = await own.replica({ localNode: machine({ lostKey: 'new' }) });
  assert.ok(![nodeId, other.localNode.nodeId].includes(fresh.localNode.nodeId));
  await own.close();
});
