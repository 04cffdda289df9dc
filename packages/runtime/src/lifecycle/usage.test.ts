// The usage of a running workload: from the driver, the Gateway and the log, and its share of processors.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type InstallationDetail, installationDetail } from '@platform/contract';
import { until } from '../../../../tests/support/wait.ts';
import { makeAssignment } from '../../test-support/core-double.ts';
import { holdClock } from '../../test-support/held-clock.ts';
import { startTestNode } from '../../test-support/node.ts';
import { type ResourceUse, unknownUse } from '../drivers/driver.ts';
import type { Traffic } from '../gateway-port.ts';
import { createUsage } from './usage.ts';

const resources = { memoryMiB: 128, cpus: 2, pids: 32, diskMiB: 64 };
const none: Traffic = { requests: 0, sentBytes: 0, receivedBytes: 0 };

function watched(use: () => Partial<ResourceUse>, { isAdopted } = { isAdopted: false }) {
  const clock = holdClock();
  const gateway = {
    traffic: () => ({ outbound: none, inbound: none }),
    activeRequests: () => 0,
    forwardInbound: () => undefined,
    forwardUpgrade: () => undefined,
    forwardPublic: () => undefined,
    forwardPublicUpgrade: () => undefined,
    apply: async () => undefined,
    close: async () => undefined,
  };
  const instance = { gateway, stats: async () => ({ ...unknownUse, ...use() }) };
  const startedAt = isAdopted ? null : clock.now();
  const read = createUsage({ instance, resources, logLinesDropped: () => 3, startedAt, now: clock.now });
  return { clock, read };
}

test('the share is that of the time since the last look, at least a second', async () => {
  let cpuMilliseconds = 0;
  const { clock, read } = watched(() => ({ cpuMilliseconds }));
  assert.equal((await read()).cpu.share, 0);
  clock.advance(2_000);
  cpuMilliseconds = 1_000;
  assert.equal((await read()).cpu.share, 0.5);
  // A second watcher a moment later does not measure over that moment.
  clock.advance(10);
  cpuMilliseconds = 1_010;
  assert.equal((await read()).cpu.share, 0.502);
  clock.advance(3_990);
  assert.equal((await read()).cpu.share, 0.003);
  clock.advance(4_000);
  cpuMilliseconds = 9_010;
  assert.deepEqual((await read()).cpu, { milliseconds: 9_010, share: 2, limit: 2 });
});

test('work at the start is spread over a second, before which there was none', async () => {
  let cpuMilliseconds = 0;
  const { clock, read } = watched(() => ({ cpuMilliseconds }));
  clock.advance(200);
  cpuMilliseconds = 456;
  assert.equal((await read()).cpu.share, 0.456);
  clock.advance(800);
  cpuMilliseconds = 1_000;
  assert.equal((await read()).cpu.share, 1);
});

test('of a workload that ran before it was watched, the share begins a second after the first look', async () => {
  let cpuMilliseconds = 90_000;
  const { clock, read } = watched(() => ({ cpuMilliseconds }), { isAdopted: true });
  assert.equal((await read()).cpu.share, null);
  clock.advance(100);
  cpuMilliseconds += 90;
  assert.equal((await read()).cpu.share, null);
  clock.advance(1_900);
  cpuMilliseconds += 410;
  assert.equal((await read()).cpu.share, 0.25);
});

test('what the machine cannot measure stays unknown', async () => {
  const { read } = watched(() => ({}));
  assert.deepEqual(await read(), {
    cpu: { milliseconds: null, share: null, limit: 2 },
    memory: { bytes: null, peakBytes: null, limitBytes: 128 * 1024 * 1024 },
    network: { outbound: none, inbound: none, public: null },
    logLinesDropped: 3,
  });
});

const SERVER = `
  const http = process.getBuiltinModule('node:http');
  const held = Buffer.alloc(32 * 1024 * 1024, 1);
  http.createServer(async (req, res) => {
    if (req.url === '/call') {
      const answer = await fetch(process.env.PLATFORM_API_URL + '/v1/services/apps', {
        headers: { authorization: 'Bearer ' + process.env.PLATFORM_GATEWAY_TOKEN },
      });
      await answer.arrayBuffer();
    }
    if (req.url === '/flood') for (let line = 0; line < 20000; line += 1) console.log('line', line);
    res.end('x'.repeat(10_000) + held.length);
  }).listen(Number(process.env.PORT));
`;

test('the status of a running workload shows what it uses, and that of a stopped one nothing', async () => {
  const node = await startTestNode({ lease: { leaseMilliseconds: null, heartbeatMilliseconds: 50 } });
  try {
    const one = makeAssignment(await node.core.publish({ 'index.mjs': SERVER }));
    node.core.assign([one]);
    const detail = async (): Promise<InstallationDetail> =>
      installationDetail.parse((await node.core.control('GET', `/installations/${one.installationId}/status`)).body);
    await until('the assignment', () => detail().catch(() => undefined));
    assert.equal((await detail()).usage, null);
    await node.call(one, '/call');
    await node.call(one, '/flood');
    const usage = await until('its lines to be counted', async () => {
      const { usage: seen } = await detail();
      return seen !== null && seen.logLinesDropped > 0 ? seen : undefined;
    });
    assert.ok(usage.cpu.milliseconds !== null && usage.cpu.milliseconds > 0);
    assert.ok(usage.memory.bytes !== null && usage.memory.bytes > 32 * 1024 * 1024);
    assert.equal(usage.memory.limitBytes, one.workload.resources.memoryMiB * 1024 * 1024);
    assert.equal(usage.network.outbound.requests, 1);
    assert.equal(usage.network.inbound.requests, 2);
    assert.ok(usage.network.inbound.sentBytes > 20_000);
    await node.core.control('POST', `/installations/${one.installationId}/stop`);
    assert.equal((await detail()).usage, null);
    // Heartbeats report the totals of all Gateways, those of ended runs included.
    const traffic = await until('a heartbeat that counts both requests', () => {
      const heartbeat = node.core.lastHeartbeat();
      return heartbeat?.traffic?.inbound.requests === 2 ? heartbeat.traffic : undefined;
    });
    assert.equal(traffic.outbound.requests, 1);
    assert.ok(traffic.inbound.sentBytes > 20_000);
    assert.ok((node.core.lastHeartbeat()?.load?.memoryUsedMiB ?? 0) > 0);
  } finally {
    await node.close();
  }
});
