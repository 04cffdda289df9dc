// Who becomes an Ingress, what it may do with what it was given, and how it ends.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assignments, type IngressCredential, limits } from '@platform/contract';
import { publicKeyText } from '@platform/link';
import { type Constellation, newNodeKey, startConstellation } from '../../../../tests/support/constellation.ts';
import { problemCode, type RawAnswer } from '../../../../tests/support/raw-http.ts';
import { until } from '../../../../tests/support/wait.ts';
import {
  callAs,
  enrolmentSecret,
  followTopology,
  joinBody,
  joinTestIngress,
  localCredential,
  renewIngress,
} from '../../test-support/ingress.ts';
import {
  anonymous,
  joinBody as joinNodeBody,
  joinTestNode,
  enrolmentSecret as nodeSecret,
} from '../../test-support/joined-node.ts';
import { controlCredential } from '../../test-support/node-double.ts';
import { createIngressToken, listIngresses, removeIngress } from './ingresses.ts';

let platform: Constellation;
let now = new Date('2026-11-21T10:00:00.000Z');

before(async () => {
  platform = await startConstellation({ clock: () => now });
});
after(() => platform.close());

function assertRefused(answer: RawAnswer, status: number, code: string): void {
  assert.deepEqual([answer.status, problemCode(answer)], [status, code], answer.text);
}

const join = (body: object) => anonymous(platform, '/v1/ingress/join', body);

test('a token makes one machine an Ingress; that machine may ask again, no other may', async () => {
  const token = await enrolmentSecret(platform);
  const [machine, thief] = [newNodeKey(), newNodeKey()];
  const first = await join(joinBody(platform, machine, token, { name: 'first' }));
  assert.equal(first.status, 201, first.text);
  assertRefused(await join(joinBody(platform, thief, token, { name: 'thief' })), 401, 'unauthenticated');
  const again = await join(joinBody(platform, machine, token, { name: 'first' }));
  const [one, two] = [first.json as IngressCredential, again.json as IngressCredential];
  assert.equal(one.ingressId, two.ingressId);
  assertRefused(await callAs(platform, one.ingressCredential, 'applied', { revision: '1' }), 401, 'unauthenticated');
  assert.equal((await callAs(platform, two.ingressCredential, 'applied', { revision: '1' })).status, 204);
});

test('a token of a node makes no Ingress, that of an Ingress no node, and one signature is not the other', async () => {
  const key = newNodeKey();
  const ofNode = await nodeSecret(platform);
  assertRefused(await join(joinBody(platform, key, ofNode)), 401, 'unauthenticated');
  const ofIngress = await enrolmentSecret(platform);
  const asNode = joinNodeBody(platform, key, ofIngress);
  assertRefused(await anonymous(platform, '/v1/node/join', asNode), 401, 'unauthenticated');
  assertRefused(await join(asNode), 401, 'unauthenticated');
  assert.match((await createIngressToken(platform.core.context)).token, /^pie_/);
});

test('a token and a credential end after an hour; the key gets the next credential, and the former one ends', async () => {
  const token = await enrolmentSecret(platform);
  const { key, ingressCredential } = await joinTestIngress(platform, 'hourly');
  const renewed = await renewIngress(platform, key);
  assertRefused(await callAs(platform, ingressCredential, 'applied', { revision: '1' }), 401, 'unauthenticated');
  now = new Date(now.getTime() + limits.nodeTokenSeconds.value * 1_000);
  assertRefused(await join(joinBody(platform, newNodeKey(), token, { name: 'late' })), 401, 'unauthenticated');
  const expired = await callAs(platform, renewed.ingressCredential, 'applied', { revision: '1' });
  assertRefused(expired, 401, 'unauthenticated');
  assert.match(expired.text, /credential of this ingress has expired/);
  const last = await renewIngress(platform, key);
  assert.equal((await callAs(platform, last.ingressCredential, 'applied', { revision: '1' })).status, 204);
});

test('a proof of another key, or of a node, is none', async () => {
  const { key } = await joinTestIngress(platform, 'proven');
  const publicKey = publicKeyText(key.publicKey);
  const { nonce } = (await anonymous(platform, '/v1/ingress/challenge', { publicKey })).json as { nonce: string };
  const proof = { publicKey, nonce, signature: 'A'.repeat(86) };
  assertRefused(await anonymous(platform, '/v1/ingress/credential', proof), 401, 'unauthenticated');
  assertRefused(await anonymous(platform, '/v1/node/credential', proof), 401, 'unauthenticated');
  // A stranger gets a nonce as well, which proves nothing.
  const stranger = { publicKey: publicKeyText(newNodeKey().publicKey) };
  assert.equal((await anonymous(platform, '/v1/ingress/challenge', stranger)).status, 200);
});

test('nodes that serve public requests learn the keys of all Ingresses, and that one is gone', async () => {
  const node = await joinTestNode(platform, 'serving');
  const registration = {
    controlUrl: 'https://127.0.0.1:9/control',
    controlCredential,
    inboundOrigin: 'https://serving.example',
  };
  const publicSide = { url: 'https://127.0.0.1:9', credential: 'pni_of-the-test-of-the-node' };
  const registered = await node.call('/v1/node/register', { ...registration, publicSide });
  assert.equal(registered.status, 204, registered.text);
  const keys = async () => assignments.parse((await node.call('/v1/node/assignments')).json);
  const before = await keys();
  const { key } = await joinTestIngress(platform, 'passing');
  const during = await keys();
  assert.ok(during.ingressKeys?.includes(publicKeyText(key.publicKey)));
  assert.notEqual(during.revision, before.revision);
  await removeIngress(platform.core.context, 'passing');
  assert.deepEqual((await keys()).ingressKeys, before.ingressKeys);
  await node.call('/v1/node/register', registration);
  assert.equal((await keys()).ingressKeys, undefined);
});

test('an Ingress that is removed has no stream, no credential and no key any more', async () => {
  const { key, ingressCredential } = await joinTestIngress(platform, 'leaving');
  const ingress = await followTopology(platform, ingressCredential);
  await removeIngress(platform.core.context, 'leaving');
  await ingress.ended;
  assertRefused(await callAs(platform, ingressCredential, 'applied', { revision: '1' }), 401, 'unauthenticated');
  const publicKey = publicKeyText(key.publicKey);
  const { nonce } = (await anonymous(platform, '/v1/ingress/challenge', { publicKey })).json as { nonce: string };
  const proof = { publicKey, nonce, signature: 'A'.repeat(86) };
  assertRefused(await anonymous(platform, '/v1/ingress/credential', proof), 401, 'unauthenticated');
  await assert.rejects(removeIngress(platform.core.context, 'leaving'), /There is no Ingress named leaving/);
});

test('the Ingress on the machine of core is removed only after it was switched off', async () => {
  const replica = await platform.replica({ localIngress: { publicKey: newNodeKey().publicKey, name: 'beside' } });
  const ingress = await followTopology(platform, localCredential(replica));
  await assert.rejects(removeIngress(platform.core.context, 'beside'), /on the machine of the platform itself/);
  ingress.close();
  // A last sign of life may still be on its way.
  await until('it to be gone for long enough', async () => {
    await platform.core.context.pool.query("UPDATE followers SET at = at - interval '26 seconds'");
    return removeIngress(platform.core.context, 'beside').then(
      () => true,
      (error: unknown) => {
        assert.match(String(error), /on the machine of the platform itself/);
        return false;
      },
    );
  });
});

test('a stream ends with the credential under which it was opened', async () => {
  const { key, ingressCredential } = await joinTestIngress(platform, 'renewing');
  const ingress = await followTopology(platform, ingressCredential);
  const { ingressCredential: next } = await renewIngress(platform, key);
  await ingress.ended;
  const again = await followTopology(platform, next, { after: ingress.revision() ?? '' });
  assert.deepEqual(
    again.lines.map(({ kind }) => kind),
    ['current'],
  );
  again.close();
});

test('the operator sees which Ingress is there, and how far each is', async () => {
  const { ingressCredential } = await joinTestIngress(platform, 'listed');
  const find = async () => (await listIngresses(platform.core.context)).find(({ name }) => name === 'listed');
  assert.deepEqual(await find().then((row) => [row?.online, row?.revision, row?.local]), [false, null, false]);
  const ingress = await followTopology(platform, ingressCredential);
  await callAs(platform, ingressCredential, 'applied', { revision: ingress.revision() });
  const there = await find();
  assert.deepEqual([there?.online, there?.revision], [true, there?.current]);
  ingress.close();
  await platform.core.context.pool.query("UPDATE followers SET at = at - interval '26 seconds'");
  assert.equal((await find())?.online, false);
});
