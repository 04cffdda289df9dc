// The docker driver on a real dockerd: what every driver must show, and what only this one promises.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { makeAssignment } from '../../testing/core-double.ts';
import { engineMissing, prepareEngine } from '../../testing/docker-engine.ts';
import { makePlace } from '../../testing/place.ts';
import { until } from '../../testing/wait.ts';
import { type ConformanceBench, openBench, type Started } from '../conformance/bench.ts';
import { driverConformance } from '../conformance/suite.ts';
import type { DriverUnderTest } from '../conformance/under-test.ts';
import { type Engine, labels, openEngine } from './engine.ts';

const missing = engineMissing();

describe('the docker driver', { skip: missing }, () => {
  if (missing !== false) return;
  const engine = prepareEngine();
  let docker: Engine;
  before(async () => {
    await engine.start();
    docker = await openEngine(engine.socketPath);
  });
  after(() => engine.remove());

  /** What the engine has standing that names one of the words. */
  async function traces(words: readonly string[]): Promise<readonly string[]> {
    const [containers, networks] = await Promise.all([docker.listContainers({ all: true }), docker.listNetworks()]);
    return [...containers, ...networks]
      .map((one) => JSON.stringify(one))
      .filter((text) => words.some((word) => text.includes(word)));
  }

  const under: DriverUnderTest = {
    name: 'docker',
    module: new URL('for-conformance.ts', import.meta.url),
    options: { socketPath: engine.socketPath, networkNamespace: engine.networkNamespace },
    timeFactor: 3,
    can: { runtimeKilled: 'adopted', cpuTimeSeenInside: true },
    traces,
  };

  driverConformance(under);

  describe('containers', () => {
    let bench: ConformanceBench;
    let started: Started;
    before(async () => {
      bench = await openBench(under);
      assert.deepEqual(bench.driver.report.reasons, []);
      started = await bench.start({ workload: { volume: true } });
      await started.listens();
    });
    after(async () => {
      await started?.stop(0);
      await bench?.close();
      bench?.place.remove();
    });

    const containersOf = async (started: Started) => {
      const all = await docker.listContainers({ all: true });
      const { installationId } = started.assignment;
      const workload = all.find(({ Labels }) => Labels[labels.installation] === installationId);
      const cell = workload?.Labels[labels.cell];
      const gateway = all.find((one) => one.Labels[labels.role] === 'gateway' && one.Labels[labels.cell] === cell);
      if (workload === undefined || gateway === undefined) throw new Error('The containers are not there.');
      return { workload: docker.getContainer(workload.Id), gateway: docker.getContainer(gateway.Id) };
    };

    test('no credential of the Gateway is in anything that the engine tells', async () => {
      const { workload, gateway } = await containersOf(started);
      const told = JSON.stringify(await gateway.inspect());
      assert.ok(!told.includes(started.coreServiceCredential) && !told.includes(started.gatewayCredential));
      assert.ok(!JSON.stringify(await workload.inspect()).includes(started.coreServiceCredential));
    });

    test('a Gateway that is killed comes back as the same, and its workload does not notice', async () => {
      const { gateway } = await containersOf(started);
      await started.run(() => {
        (globalThis as { mark?: string }).mark = 'still the same';
      });
      const before = (await gateway.inspect()).State.Pid;
      await gateway.kill({ signal: 'SIGKILL' });
      await until('the Gateway to be back', async () => {
        const { Pid, Running } = (await gateway.inspect()).State;
        return Running && Pid !== before;
      });
      assert.equal(await started.run(() => (globalThis as { mark?: string }).mark), 'still the same');
      assert.deepEqual(await started.run(({ gateway: ask }) => ask('/v1/services/apps')), {
        status: 200,
        text: 'core answered',
      });
      assert.equal(bench.core.seen.at(-1)?.authorization, `Bearer ${started.coreServiceCredential}`);
    });

    test('a tunnel is NET_ADMIN and its device and no more, and ends with its container', async () => {
      const tunnel = await bench.start({ network: { public: false, tunnel: true } });
      await tunnel.listens();
      const seen = await tunnel.run(({ fs, code }) => ({
        capabilities: /CapEff:\s*(\w+)/.exec(fs.readFileSync('/proc/self/status', 'utf8'))?.[1],
        bounding: /CapBnd:\s*(\w+)/.exec(fs.readFileSync('/proc/self/status', 'utf8'))?.[1],
        device: code(() => fs.statSync('/dev/net/tun')),
      }));
      assert.equal(Number.parseInt(seen.bounding ?? '', 16), 1 << 12);
      assert.equal(seen.device, 'done');
      await assert.rejects(tunnel.instance.applyNetworkPolicy({ public: false, tunnel: false }));
      await tunnel.stop(0);
    });
  });

  test('a workload outlives a Runtime that is killed, and the next one has it', async (t) => {
    const place = makePlace();
    t.after(() => place.remove());
    const script = fileURLToPath(new URL('../conformance/doomed.ts', import.meta.url));
    const { module, options, timeFactor } = under;
    const about = { module: module.href, options, folder: place.folder, mode: 'after', timeFactor };
    const child = spawn(process.execPath, [script, JSON.stringify(about)], { stdio: ['ignore', 'pipe', 'inherit'] });
    t.after(() => child.kill('SIGKILL'));
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
    });
    const line = await until('the workload to run', () => text.endsWith('\n') && text, 90_000);
    const { installationId }: { installationId: string } = JSON.parse(line);
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
    const [container] = await docker.listContainers({
      filters: { label: [`${labels.installation}=${installationId}`] },
    });
    assert.equal(container?.State, 'running');
    const pid = async () => (await docker.getContainer(container?.Id ?? '').inspect()).State.Pid;
    const before = await pid();
    const next = await openBench(under, place);
    const [survivor, ...others] = await next.driver.list();
    assert.deepEqual([survivor?.installationId, others], [installationId, []]);
    if (survivor === undefined) return;
    const installation = makeAssignment('0'.repeat(64), { installationId, workload: { volume: true } });
    const adopted = await next.adopt(survivor, { installation });
    assert.equal(await pid(), before);
    await adopted?.stop(0);
    assert.deepEqual(await traces([installationId]), []);
    await next.close();
  });

  test('the next Runtime takes over what runs as it is, and ends what it is told to', async () => {
    const former = await openBench(under);
    const installation = former.installation({ volume: true });
    const started = await former.start({ installation });
    await started.listens();
    await started.run(() => {
      (globalThis as { mark?: string }).mark = 'not restarted';
    });
    const next = await openBench(under, former.place);
    const survivors = await next.driver.list();
    assert.deepEqual(
      survivors.map(({ installationId }) => installationId),
      [installation.installationId],
    );
    const [survivor] = survivors;
    if (survivor === undefined) throw new Error('nothing survived');
    const adopted = await next.adopt(survivor, { installation });
    if (adopted === undefined) throw new Error('it was not taken over');
    await adopted.listens();
    assert.equal(await adopted.run(() => (globalThis as { mark?: string }).mark), 'not restarted');
    // Its Gateway is known to the next Runtime as it was: killed, it comes back with the same credentials.
    assert.equal(await adopted.run(async ({ gateway }) => (await gateway('/v1/services/apps')).status), 200);
    // The former one, which was not killed here, hears of the end as well.
    await Promise.all([adopted.stop(0), started.ended()]);
    assert.deepEqual(await traces([installation.installationId]), []);
    await next.close();
    await former.close();
    former.place.remove();
  });
});
