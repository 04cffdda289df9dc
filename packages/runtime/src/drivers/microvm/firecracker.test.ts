// Firecracker as the monitor, against a fake of its API: no Firecracker was run in these tests, and no KVM.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { newEnvelopeKey } from '@platform/link';
import { startGateway } from '../../../../../tests/support/gateway.ts';
import { until } from '../../../../../tests/support/wait.ts';
import { openDoor } from '../../../test-support/door.ts';
import { imagesOfTests, lacksEquipment, settingsForTests } from '../../../test-support/microvm/equipment.ts';
import { createFake } from '../../../test-support/microvm/fake-firecracker.mjs';
import { makePlace } from '../../../test-support/place.ts';
import { type ApiRequest, bootRequests, bootThrough } from './keeper/firecracker-api.ts';
import { closeMachineHost, openMachineHost } from './machine-host.ts';
import type { Machine } from './places.ts';
import { findEquipment } from './requirements.ts';
import { runMachine } from './run-machine.ts';

const machine: Machine = {
  monitor: 'firecracker',
  program: '/opt/platform/bin/firecracker',
  acceleration: 'kvm',
  processors: 2,
  memoryMiB: 224,
  kernelArguments: ['console=ttyS0', 'reboot=t'],
  volume: true,
};
const never = new Promise<void>(() => undefined);
const waiting = { ended: never, pause: delay };

async function listen(t: TestContext, server: http.Server): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'fc-'));
  const socket = join(folder, 'api.sock');
  server.listen(socket);
  await once(server, 'listening');
  t.after(() => {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return socket;
}

/** Answers everything with one status and remembers what it was asked. */
async function recorder(
  t: TestContext,
  status = 204,
): Promise<{ socket: string; seen: (ApiRequest & { method: string })[] }> {
  const seen: (ApiRequest & { method: string })[] = [];
  const server = http.createServer(async (req, res) => {
    let text = '';
    for await (const chunk of req) text += chunk;
    seen.push({ method: req.method ?? '', path: req.url ?? '', body: text === '' ? {} : JSON.parse(text) });
    res
      .writeHead(req.method === 'GET' ? 200 : status)
      .end(status === 204 ? undefined : '{"fault_message":"no such drive"}');
  });
  return { socket: await listen(t, server), seen };
}

test('everything is configured before the one request that starts the machine', async (t) => {
  const { socket, seen } = await recorder(t);
  await bootThrough(socket, machine, waiting);
  assert.deepEqual(
    seen.map(({ method, path }) => `${method} ${path}`),
    [
      'GET /',
      'PUT /machine-config',
      'PUT /boot-source',
      'PUT /drives/base',
      'PUT /drives/app',
      'PUT /drives/volume',
      'PUT /network-interfaces/eth0',
      'PUT /actions',
    ],
  );
  assert.deepEqual(seen.at(1)?.body, { vcpu_count: 2, mem_size_mib: 224, smt: false, track_dirty_pages: false });
  assert.match(JSON.stringify(seen.at(2)?.body), /"boot_args":"console=ttyS0 reboot=k platform\.base=vda /);
  assert.deepEqual(seen.at(-1)?.body, { action_type: 'InstanceStart' });
});

test('only the volume can be written to', () => {
  const drives = bootRequests(machine).filter(({ path }) => path.startsWith('/drives/'));
  assert.deepEqual(
    drives.map(({ body }) => 'is_read_only' in body && body.is_read_only),
    [true, true, false],
  );
  assert.equal(bootRequests({ ...machine, volume: false }).filter(({ path }) => path === '/drives/volume').length, 0);
});

test('a refusal ends the boot, with the words of Firecracker', async (t) => {
  const { socket, seen } = await recorder(t, 400);
  await assert.rejects(bootThrough(socket, machine, waiting), /answered 400 to \/machine-config: no such drive/);
  assert.equal(seen.length, 2);
});

test('a monitor that ends before its socket is there is not waited for', async () => {
  const gone = bootThrough('/nonexistent/api.sock', machine, {
    ended: Promise.resolve(),
    pause: async () => undefined,
  });
  await assert.rejects(gone, /ENOENT/);
});

test('the fake refuses what the API refuses: other members, wrong types, a wrong order', async (t) => {
  const started: unknown[] = [];
  const { server } = createFake({ start: (it: unknown) => void started.push(it) });
  const socket = await listen(t, server);
  const put = (path: string, body: object) =>
    new Promise<string>((resolve, reject) => {
      const text = JSON.stringify(body);
      const headers = { 'content-length': Buffer.byteLength(text) };
      const request = http.request({ socketPath: socket, method: 'PUT', path, headers }, async (response) => {
        let answer = '';
        for await (const chunk of response) answer += chunk;
        resolve(`${response.statusCode} ${answer}`);
      });
      request.on('error', reject);
      request.end(text);
    });
  assert.match(await put('/actions', { action_type: 'InstanceStart' }), /^400 .*without kernel/);
  assert.match(await put('/machine-config', { vcpu_count: 1 }), /^400 .*mem_size_mib/);
  assert.match(await put('/machine-config', { vcpu_count: '1', mem_size_mib: 64 }), /^400 .*vcpu_count/);
  assert.match(await put('/machine-config', { vcpu_count: 33, mem_size_mib: 64 }), /^400/);
  assert.match(await put('/drives/a', { drive_id: 'b', is_root_device: false }), /^400/);
  assert.match(await put('/drives/a', { drive_id: 'a', is_root_device: false, readonly: true }), /^400 .*readonly/);
  assert.match(await put('/vms', {}), /^400/);
  const kernel = fileURLToPath(import.meta.url);
  assert.match(await put('/boot-source', { kernel_image_path: kernel }), /^204/);
  assert.match(await put('/actions', { action_type: 'InstanceStart' }), /^204/);
  assert.match(await put('/machine-config', { vcpu_count: 1, mem_size_mib: 64 }), /^400 .*after starting/);
  assert.equal(started.length, 1);
});

test('a workload runs through the same keeper, enclosure and guest, behind the fake', {
  skip: lacksEquipment(),
}, async (t) => {
  const place = makePlace();
  t.after(() => place.remove());
  const program = fileURLToPath(new URL('../../../test-support/microvm/fake-firecracker.mjs', import.meta.url));
  const installed = join(place.folder, 'firecracker');
  copyFileSync(program, installed);
  chmodSync(installed, 0o755);
  const equipment = findEquipment({ ...settingsForTests(), monitor: 'firecracker', firecracker: installed });
  assert.ok('monitor' in equipment);
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const host = await openMachineHost(
    { dataDirectory: place.folder, imageDirectory: imagesOfTests, owner: true, dns: [], log },
    equipment,
  );
  t.after(() => closeMachineHost(host));
  const app = place.workload(
    'answering',
    `const http = process.getBuiltinModule('node:http'); import fs from 'node:fs';
     fs.writeFileSync(process.env.VOLUME + '/kept', 'kept');
     process.on('SIGTERM', () => process.exit(3));
     http.createServer((_req, res) => res.end('from the guest')).listen(8080, '127.0.0.1', () => console.log('up'));`,
  );
  const instance = await runMachine(
    host,
    {
      installationId: 'inst-firecracker',
      manifest: {
        ...{ runtime: 'node', entry: 'index.mjs', port: 8080, mode: 'automatic', idleSeconds: 60, volume: true },
        resources: { memoryMiB: 128, cpus: 1, pids: 32, diskMiB: 32 },
      },
      app,
      volume: join(place.folder, 'volume'),
      uid: 2_900_001,
      network: { public: false, tunnel: false },
      environment: ({ volume }) => ({ VOLUME: volume ?? '' }),
      gatewayUrls: { PLATFORM_API_URL: '' },
      storageUrls: {},
      fingerprint: '',
      openGateway: async (where) =>
        startGateway({
          ...where,
          installationId: 'inst-firecracker',
          appOrigin: 'http://app.test',
          coreOrigin: 'http://127.0.0.1:9',
          coreHost: 'core.test',
          gatewayCredential: 'pgw_test',
          coreServiceCredential: 'pcs_test',
          envelopeKey: await newEnvelopeKey(),
          policy: { revision: 0 },
          onActivity() {},
          log() {},
        }),
      gatewayHooks: { onActivity() {}, log() {} },
      claimImage: async () => undefined,
      gatewaySettings: () => Promise.reject(new Error('not asked for')),
      abort: new AbortController().signal,
    },
    'kvm',
  );
  let output = '';
  instance.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  instance.stderr.resume();
  const ended = instance.exited.then((exit) => assert.fail(`${exit.reason} ${output}`));
  assert.equal(await Promise.race([instance.listening(AbortSignal.timeout(120_000)), ended]), true);
  ended.catch(() => undefined);
  await until('its word', () => output.includes('up'));
  const door = openDoor(instance.gateway).listen(0);
  t.after(() => door.close());
  await once(door, 'listening');
  const address = door.address();
  assert.ok(address !== null && typeof address === 'object');
  assert.equal(await (await fetch(`http://127.0.0.1:${address.port}/`)).text(), 'from the guest');
  const exit = await instance.stop(20_000);
  assert.equal(exit.code, 3, exit.reason);
  await instance.gateway.close();
  instance.release();
});
