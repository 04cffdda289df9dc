// What a Gateway counts for its workload: requests and bytes, each way, on open and on closed connections.
import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { after, before, test } from 'node:test';
import { type RecordingUpstream, startRecordingUpstream } from '../../http/test-support/recording-upstream.ts';
import {
  ask,
  GATEWAY_CREDENTIAL,
  type GatewayUnderTest,
  startGatewayUnderTest,
} from '../test-support/gateway-under-test.ts';

const KiB = 1024;
const LARGE = 'x'.repeat(300 * KiB);
const ANSWER = 'y'.repeat(100 * KiB);
/** Heads of messages are counted too; nothing here has more of them. */
const HEADS = 4 * KiB;

let core: RecordingUpstream;
let workload: RecordingUpstream;
let tested: GatewayUnderTest;

before(async () => {
  core = await startRecordingUpstream((_req, res) => res.end(ANSWER));
  tested = await startGatewayUnderTest(core.origin);
  workload = await startRecordingUpstream((_req, res) => res.end(ANSWER), { path: tested.socketPath });
});
after(async () => {
  await tested.close();
  await workload.close();
  await core.close();
});

function assertAbout(actual: number, least: number): void {
  assert.ok(actual >= least && actual <= least + HEADS, `${actual} is not ${least} and some heads`);
}

test('nothing went through a new Gateway', async () => {
  const nothing = { requests: 0, sentBytes: 0, receivedBytes: 0 };
  assert.deepEqual(tested.gateway.traffic(), { outbound: nothing, inbound: nothing });
});

test('requests of the workload count outbound, refused ones included', async () => {
  await ask(tested.port, { method: 'POST', path: '/v1/services/notifications', body: LARGE });
  const once = tested.gateway.traffic();
  assert.equal(once.outbound.requests, 1);
  assertAbout(once.outbound.sentBytes, LARGE.length);
  assertAbout(once.outbound.receivedBytes, ANSWER.length);
  assert.deepEqual(once.inbound, { requests: 0, sentBytes: 0, receivedBytes: 0 });
  await ask(tested.port, { path: '/v1/services/apps', headers: { authorization: 'Bearer no' } });
  assert.equal(tested.gateway.traffic().outbound.requests, 2);
});

test('requests to the workload count inbound, seen from the workload', async () => {
  const { outbound } = tested.gateway.traffic();
  await ask(tested.inboundPort, { method: 'POST', path: '/', body: LARGE });
  const { inbound, outbound: same } = tested.gateway.traffic();
  assert.equal(inbound.requests, 1);
  assertAbout(inbound.receivedBytes, LARGE.length);
  assertAbout(inbound.sentBytes, ANSWER.length);
  assert.deepEqual(same, outbound);
});

test('a connection that stays open is counted while it is open, and once', async () => {
  const other = await startGatewayUnderTest(core.origin);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const call = () =>
    new Promise<void>((resolve, reject) => {
      const headers = { authorization: `Bearer ${GATEWAY_CREDENTIAL}` };
      const options = { host: '127.0.0.1', port: other.port, path: '/v1/services/apps', agent, headers };
      request(options, (response) => response.resume().on('end', resolve))
        .on('error', reject)
        .end();
    });
  await call();
  await call();
  const open = other.gateway.traffic().outbound;
  assert.equal(open.requests, 2);
  assertAbout(open.receivedBytes, 2 * ANSWER.length);
  agent.destroy();
  await other.close();
  assert.deepEqual(other.gateway.traffic().outbound, open);
});
