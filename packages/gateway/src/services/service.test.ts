// A service is a plug: its own prefixes, its own way to present the credential, refusals in its clients' dialect, and
// policies that are in effect before `apply` resolves.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, test } from 'node:test';
import type { GatewayPolicy, Refusal } from '@platform/contract';
import { type RecordingUpstream, startRecordingUpstream } from '../../../http/test-support/recording-upstream.ts';
import {
  ask,
  GATEWAY_CREDENTIAL,
  type GatewayUnderTest,
  startGatewayUnderTest,
} from '../../test-support/gateway-under-test.ts';
import { bearerOf } from '../credential.ts';
import type { GatewayService } from './service.ts';

const applied: GatewayPolicy[] = [];
let held: PromiseWithResolvers<void>;
let core: RecordingUpstream;
let tested: GatewayUnderTest;

function echo(): GatewayService {
  return {
    prefixes: ['/v1/services/echo/', '/v1/services/echo/deeper/'],
    presented: (head) => {
      const at = head.forwarded.findIndex((field) => field.toLowerCase() === 'x-api-key');
      return at === -1 ? bearerOf(head) : (head.forwarded[at + 1] ?? null);
    },
    refuse(res: ServerResponse, refusal: Refusal) {
      res.writeHead(418, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { type: refusal.code } }));
      return 'r1';
    },
    handle({ res, path }) {
      res.end(`echo ${path} under ${applied.at(-1)?.revision ?? 'the first policy'}`);
      return null;
    },
    async apply(policy) {
      await held.promise;
      applied.push(policy);
    },
    close: async () => undefined,
  };
}

before(async () => {
  core = await startRecordingUpstream();
  held = Promise.withResolvers();
  tested = await startGatewayUnderTest(core.origin, { services: [echo], policy: { revision: 3 } });
});
after(async () => {
  await tested.close();
  await core.close();
});

test('a client presents the credential in the way of its service', async () => {
  const headers = { authorization: [], 'x-api-key': GATEWAY_CREDENTIAL };
  const answer = await ask(tested.port, { path: '/v1/services/echo/x', headers });
  assert.equal(answer.body, 'echo /v1/services/echo/x under the first policy');
});

test('a refusal speaks the dialect of the service, and a problem document where there is none', async () => {
  const headers = { authorization: 'Bearer wrong' };
  const refused = await ask(tested.port, { path: '/v1/services/echo/x', headers });
  assert.deepEqual([refused.status, refused.body], [418, '{"error":{"type":"unauthenticated"}}']);
  const elsewhere = await ask(tested.port, { path: '/v1/elsewhere', headers });
  assert.deepEqual([elsewhere.status, JSON.parse(elsewhere.body).code], [401, 'unauthenticated']);
});

test('a later policy is in effect when it was applied, and an older one is ignored', async () => {
  let done = false;
  const applying = tested.gateway.apply({ revision: 5 }).then(() => {
    done = true;
  });
  assert.match((await ask(tested.port, { path: '/v1/services/echo/x' })).body, /the first policy/);
  assert.equal(done, false);
  held.resolve();
  await applying;
  await tested.gateway.apply({ revision: 4 });
  assert.match((await ask(tested.port, { path: '/v1/services/echo/x' })).body, /under 5/);
  assert.deepEqual(applied, [{ revision: 5 }]);
  await tested.gateway.apply({ revision: 5 });
  assert.equal(applied.length, 1, 'what says the same changes nothing');
  await tested.gateway.apply({ revision: 5, objectStorage: true });
  assert.equal(applied.length, 2, 'the operator may change something while the grants stay');
});

test('what only a Gateway may call at core is never forwarded', async (t) => {
  const plain = await startGatewayUnderTest(core.origin);
  t.after(() => plain.close());
  for (const path of [
    '/v1/gateway/authorize',
    '/v1/gateway',
    '/services/workflows/../../v1/gateway/x',
    '/v1/services/%2e%2e/gateway/x',
  ]) {
    const answer = await ask(plain.port, { path });
    assert.ok(answer.status === 404 || answer.status === 400, `${path}: ${answer.status}`);
  }
  assert.equal(core.begun(), 0);
});
