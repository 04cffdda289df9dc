// podman is refused in one sentence before anything is made: as it answers, and where it is installed, itself.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { until } from '../../../../../tests/support/wait.ts';
import { openForConformance } from '../../../test-support/conformance/docker.ts';
import { makePlace, type Place } from '../../../test-support/place.ts';
import { unmountBelow } from '../../../test-support/unmount.ts';
import { findProgram } from '../../find-program.ts';
import { openEngine } from './engine.ts';
import { requireNotPodman } from './not-podman.ts';

const SENTENCE = /^podman listens here, .* use dockerd \(Debian: apt-get install docker\.io\)\.$/;
const podman = findProgram('podman');

function testPlace(t: TestContext): Place {
  const place = makePlace();
  t.after(() => {
    unmountBelow(place.folder);
    place.remove();
  });
  return place;
}

async function judge(t: TestContext, components: unknown): Promise<void> {
  const socketPath = join(testPlace(t).folder, 'engine.sock');
  const server = http.createServer((_req, res) => {
    res.setHeader('content-type', 'application/json');
    res.end(JSON.stringify({ Version: '4.3.1', ApiVersion: '1.41', Components: components }));
  });
  server.listen(socketPath);
  await once(server, 'listening');
  t.after(() => server.close());
  await requireNotPodman(await openEngine(socketPath));
}

test('what answers as podman 4.3 does is refused', async (t) => {
  const components = [{ Name: 'Podman Engine', Version: '4.3.1' }, { Name: 'Conmon' }, { Name: 'OCI Runtime (runc)' }];
  await assert.rejects(judge(t, components), ({ message }: Error) => SENTENCE.test(message));
});

test('what answers as dockerd does is not, also an old one that names no components', async (t) => {
  await judge(t, [{ Name: 'Engine', Version: '20.10.24' }, { Name: 'containerd' }, { Name: 'runc' }]);
  await judge(t, undefined);
});

test('podman itself is refused, and nothing was made', {
  skip:
    podman === undefined
      ? 'podman is missing (Debian: apt-get install --no-install-recommends podman)'
      : process.getuid?.() !== 0 && 'needs root, as the docker driver does',
}, async (t) => {
  const { folder } = testPlace(t);
  const socketPath = join(folder, 'podman.sock');
  const places = ['--root', join(folder, 'root'), '--runroot', join(folder, 'run'), '--tmpdir', join(folder, 'tmp')];
  const service = spawn(
    'unshare',
    [
      ...['--net', 'setpriv', '--pdeathsig', 'KILL', podman ?? '', ...places, '--cgroup-manager', 'cgroupfs'],
      ...['--events-backend', 'none', '--network-config-dir', join(folder, 'net')],
      ...['system', 'service', '--time', '0', `unix://${socketPath}`],
    ],
    { stdio: 'ignore' },
  );
  t.after(async () => {
    if (service.exitCode !== null || service.signalCode !== null) return;
    const gone = once(service, 'exit');
    service.kill('SIGKILL');
    await gone;
  });
  await until('podman to listen', () => existsSync(socketPath), 60_000);
  const tables = () => spawnSync('nft', ['list', 'tables'], { encoding: 'utf8' }).stdout;
  const before = tables();
  const driver = await openForConformance(join(folder, 'platform'), {
    socketPath,
    networkNamespace: `/proc/${service.pid}/ns/net`,
  });
  assert.equal(driver.report.ok, false);
  const [reason = '', ...more] = driver.report.reasons;
  assert.match(reason, SENTENCE);
  assert.deepEqual(more, []);
  assert.equal(tables(), before);
  await driver.close();
});
