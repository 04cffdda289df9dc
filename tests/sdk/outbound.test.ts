// The SDK's outbound calls, through a real Gateway and core to a real upstream: `fetch`, with the platform's refusals told
// apart from those of the service.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { PlatformError, PlatformServicesClient } from '@platform/sdk';
import { GATEWAY_CREDENTIAL, type OutboundWorld, SECRET, startOutboundWorld } from '../support/outbound-world.ts';
import { answerInBrief } from '../support/tls-upstream.ts';

let world: OutboundWorld;
let client: PlatformServicesClient;
before(async () => {
  world = await startOutboundWorld();
  client = new PlatformServicesClient({ apiUrl: `http://127.0.0.1:${world.port}`, gatewayToken: GATEWAY_CREDENTIAL });
});
after(() => world.close());

const refusal = (code: string) => (error: unknown) => error instanceof PlatformError && error.code === code;

test('a request goes below the slot with its secret, and the answer is the service’s', async () => {
  const { request } = client.outbound('base');
  const answer = await request('/issues?state=open', {
    method: 'POST',
    body: 'hello',
    headers: { accept: 'text/plain' },
  });
  assert.deepEqual([answer.status, await answer.json()], [200, { ok: true }]);
  const arrived = world.upstream.arrived.at(-1);
  assert.deepEqual([arrived?.method, arrived?.target, arrived?.body], ['POST', '/base/issues?state=open', 'hello']);
  assert.ok(arrived?.rawHeaders.includes(`Bearer ${SECRET}`));
  for (const [path, target] of [
    ['', '/base'],
    ['?a=b', '/base?a=b'],
    ['x', '/base/x'],
    ['//x', '/base/x'],
  ] as const) {
    await request(path);
    assert.equal(world.upstream.arrived.at(-1)?.target, target);
  }
});

test('stock clients need the base address and the key alone', async () => {
  const { baseUrl, apiKey } = client.outbound('base');
  const answer = await fetch(`${baseUrl}/user`, { headers: { authorization: `Bearer ${apiKey}` } });
  assert.equal(answer.status, 200);
  assert.equal(world.upstream.arrived.at(-1)?.target, '/base/user');
});

test('refusals of the platform are errors, those of the service are answers', async () => {
  await assert.rejects(client.outbound('unbound').request('/x'), refusal('not_authorized'));
  await assert.rejects(client.outbound('nowhere').request('/x'), refusal('not_found'));
  await assert.rejects(client.outbound('readonly').request('/x', { method: 'DELETE' }), refusal('not_authorized'));
  world.upstream.answer = (_req, res) => void res.writeHead(302, { location: 'https://evil.example/' }).end();
  await assert.rejects(client.outbound('base').request('/x'), refusal('upstream_redirect_refused'));
  const problem = JSON.stringify({ type: 'https://api.example/errors/7', code: 'not_found', detail: 'none' });
  world.upstream.answer = (_req, res) =>
    void res.writeHead(404, { 'content-type': 'application/problem+json' }).end(problem);
  const answer = await client.outbound('base').request('/x');
  assert.deepEqual([answer.status, await answer.text()], [404, problem]);
  world.upstream.answer = answerInBrief;
});

test('paths that a URL would lead elsewhere, and other credentials, are refused before anything is sent', async () => {
  const before = world.upstream.arrived.length;
  const { request } = client.outbound('base');
  for (const path of ['../root/x', '/a/../../root/x', '%2e%2e/root', '/x#y', '..'])
    await assert.rejects(request(path), refusal('invalid_request'), path);
  await assert.rejects(request('/x', { headers: { Authorization: 'Bearer mine' } }), refusal('invalid_request'));
  assert.equal(world.upstream.arrived.length, before);
});

test('who gives up gets the own reason; a Gateway that is not there is a failed network', async () => {
  const reason = new Error('enough');
  await assert.rejects(client.outbound('base').request('/x', { signal: AbortSignal.abort(reason) }), reason);
  const nowhere = new PlatformServicesClient({ apiUrl: 'http://127.0.0.1:9', gatewayToken: 'x' });
  await assert.rejects(nowhere.outbound('base').request('/x'), refusal('network_failed'));
});
