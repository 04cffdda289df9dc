// A disk that fills: backends that write to it stop before the database has to, say why, and go on afterwards.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Assignment } from '@platform/contract';
import { until } from '../../../../tests/support/wait.ts';
import { makeAssignment } from '../../test-support/core-double.ts';
import { startTestNode, type TestNode } from '../../test-support/node.ts';

const GiB = 1024 ** 3;
const MiB = 1024 ** 2;
/** Milliseconds that a backend has to end after SIGTERM. */
const GRACE = 5_000;
const SERVER = `
  import fs from 'node:fs';
  const http = process.getBuiltinModule('node:http');
  if (process.env.STUBBORN) process.on('SIGTERM', () => {});
  http.createServer((req, res) => {
    if (req.url === '/say') console.log('said something');
    const file = (process.env.PLATFORM_VOLUME_DIR ?? '/tmp') + '/count';
    const count = fs.existsSync(file) ? Number(fs.readFileSync(file)) + 1 : 1;
    fs.writeFileSync(file, String(count));
    res.end(String(count));
  }).listen(Number(process.env.PORT));
`;

describe('on a full disk', () => {
  let node: TestNode;
  let server: string;
  let freeBytes = 10 * GiB;
  let assigned: Assignment[] = [];

  before(async () => {
    node = await startTestNode({
      diskSpace: () => ({ freeBytes, reserveBytes: GiB }),
      lease: { leaseMilliseconds: null, heartbeatMilliseconds: 50 },
    });
    server = await node.core.publish({ 'index.mjs': SERVER });
  });
  after(() => node.close());
  beforeEach(() => {
    freeBytes = 10 * GiB;
    assigned = [];
  });

  const assign = async (
    workload: Partial<Assignment['workload']>,
    { hash = server, desired = 'automatic' }: { hash?: string; desired?: Assignment['desired'] } = {},
  ): Promise<Assignment> => {
    const one = makeAssignment(hash, { workload, desired });
    assigned.push(one);
    node.core.assign([...assigned]);
    await until('the assignment to arrive', async () => (await control('GET', one, '/status')).status === 200);
    return one;
  };
  const control = (method: string, one: Assignment, path = '') =>
    node.core.control(method, `/installations/${one.installationId}${path}`);
  const stopped = (one: Assignment) =>
    until('the backend to stop', async () => {
      const status = await node.core.status(one.installationId);
      return status.state === 'stopped' && status.reason !== undefined ? status : undefined;
    });

  test('what writes is stopped and says why, what does not runs on, and both are used again afterwards', async () => {
    const writer = await assign({ volume: true });
    const other = await assign({});
    assert.equal((await node.call(writer)).text, '1');
    assert.equal((await node.call(other)).text, '1');
    freeBytes = GiB - 1;
    const { reason } = await stopped(writer);
    assert.match(reason ?? '', /disk of the machine is full/);
    const refused = await node.call(writer);
    assert.equal(refused.status, 503);
    assert.match(JSON.parse(refused.text).detail, /disk of the machine is full/);
    const started = await control('POST', writer, '/start');
    assert.equal((started.body as { state: string }).state, 'stopped');
    assert.equal((await node.call(other)).text, '2');
    // Not at the first byte that is free again.
    freeBytes = GiB + MiB;
    assert.equal((await node.call(writer)).status, 503);
    freeBytes = 2 * GiB;
    await until('the writer to be used again', async () => (await node.call(writer)).text === '2');
    assert.equal(node.core.starts.get(other.installationId)?.length, 1, 'never interrupted');
  });

  test('what always runs starts again by itself', async () => {
    const writer = await assign({ volume: true, mode: 'always' }, { desired: 'always' });
    await until('it to run', async () => (await node.core.status(writer.installationId)).state === 'running');
    freeBytes = GiB - 1;
    await stopped(writer);
    freeBytes = 2 * GiB;
    await until('it to run again', async () => (await node.core.status(writer.installationId)).state === 'running');
  });

  test('once half the reserve is gone, nothing is given time to end', async () => {
    const writer = await assign({ volume: true, environment: { STUBBORN: '1' } });
    let shortest = Number.POSITIVE_INFINITY;
    // A time to end is five seconds, each time; a busy machine is not so slow each time.
    for (let round = 1; round <= 3 && shortest >= GRACE; round += 1) {
      freeBytes = 10 * GiB;
      await until('it to run', async () => (await node.call(writer)).status === 200);
      const began = performance.now();
      freeBytes = GiB / 4;
      await stopped(writer);
      shortest = Math.min(shortest, performance.now() - began);
    }
    assert.ok(shortest < GRACE, `${shortest} ms`);
  });

  test('no package is unpacked, and its app says why and starts later', async () => {
    const next = await node.core.publish({ 'index.mjs': `// another\n${SERVER}` });
    freeBytes = GiB - 1;
    const one = await assign({}, { hash: next });
    const called = node.call(one);
    await until('it to say why', async () =>
      /disk of the machine is full/.test((await node.core.status(one.installationId)).reason ?? ''),
    );
    assert.ok(!readdirSync(join(node.place.folder, 'workloads')).includes(next));
    freeBytes = 10 * GiB;
    node.clock.advance(5_000);
    assert.equal((await called).status, 200);
  });

  test('logs leave the disk alone, and count what they left out', async () => {
    const one = await assign({});
    await node.call(one, '/say');
    const said = async () => (await node.core.logs(one.installationId)).items.map(({ line }) => line);
    await until('its line', async () => (await said()).includes('said something'));
    const before = (await said()).length;
    freeBytes = GiB - 1;
    await node.call(one, '/say');
    await until('core to hear of it', () => node.core.lastHeartbeat()?.diskFull);
    assert.equal((await said()).length, before);
    freeBytes = 10 * GiB;
    await until('what was left out', async () => {
      await node.call(one, '/say');
      return (await said()).some((line) => /^\d+ lines? were dropped: the disk of the machine was full/.test(line));
    });
  });

  test('the volume of an app that is gone can be deleted, and of one that is there it cannot', async () => {
    const one = await assign({ volume: true });
    assert.equal((await node.call(one)).text, '1');
    const names = () =>
      readdirSync(join(node.place.folder, 'volumes')).filter((name) => name.startsWith(one.installationId));
    assert.ok(names().length > 0);
    assert.equal((await control('DELETE', one, '/volume')).status, 503);
    assert.equal((await node.call(one)).text, '2');
    node.core.assign([]);
    assert.equal((await control('DELETE', one)).status, 204);
    freeBytes = GiB - 1;
    assert.equal((await control('DELETE', one, '/volume')).status, 204, 'also on a full disk');
    assert.deepEqual(names(), []);
    freeBytes = 10 * GiB;
    await assign({ volume: true });
    node.core.assign([one]);
    await until('it to begin anew', async () => (await node.call(one)).text === '1');
  });
});
