// The docker driver on a real dockerd: what every driver must show, and what only this one promises.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { until } from '../../../../../tests/support/wait.ts';
import type { Started } from '../../../test-support/conformance/bench.ts';
import { networkBehaviour } from '../../../test-support/conformance/network.ts';
import { driverConformance, type Suite } from '../../../test-support/conformance/suite.ts';
import { udpBehaviour } from '../../../test-support/conformance/udp.ts';
import type { DriverUnderTest } from '../../../test-support/conformance/under-test.ts';
import { engineMissing, prepareEngine } from '../../../test-support/docker-engine.ts';
import { imageArchive, imageMissing, testImage } from '../../../test-support/image-archive.ts';
import { registryMissing, startRegistry, type TestRegistry } from '../../../test-support/image-registry.ts';
import { type NetworkPolicy, StartRefused } from '../driver.ts';
import { insideContainer } from './base-image.ts';
import { type Engine, labels, openEngine } from './engine.ts';
import { noTunnel } from './tunnel/tunnel-files.ts';

/** An allowed registry at which nothing listens. */
const NOBODY = '127.0.0.1:1/allowed';
const CONNECTED = /^\{"kind":"connected"\}\s*from the (?:provider|model server)$/;
const BLOCKED = /"blocked"/;
const missing = engineMissing();

describe('the docker driver', { skip: missing }, () => {
  if (missing !== false) return;
  const engine = prepareEngine();
  let docker: Engine;
  let registry: TestRegistry | undefined;
  /** Listens on this machine's loopback interface, which nothing in a cell reaches by itself. */
  const provider = createServer((socket) => socket.end('from the provider'));
  const options: Record<string, string> = {
    socketPath: engine.socketPath,
    networkNamespace: engine.networkNamespace,
  };
  before(async () => {
    if (registryMissing() === false) registry = await startRegistry();
    options.imageRegistries = [NOBODY, ...(registry === undefined ? [] : [`${registry.host}/team`])].join();
    provider.listen(0, '127.0.0.1');
    await once(provider, 'listening');
    options.privateOrigins = `https://127.0.0.1:${providerPort()}`;
    await engine.start();
    docker = await openEngine(engine.socketPath);
  });
  after(() => {
    provider.close();
    return Promise.all([engine.remove(), registry?.stop()]);
  });

  function providerPort(): number {
    const address = provider.address();
    return address !== null && typeof address === 'object' ? address.port : 0;
  }

  /** What the engine has standing that names one of the words. */
  async function traces(words: readonly string[]): Promise<readonly string[]> {
    const [containers, networks] = await Promise.all([docker.listContainers({ all: true }), docker.listNetworks()]);
    return [...containers, ...networks]
      .map((one) => JSON.stringify(one))
      .filter((text) => words.some((word) => text.includes(word)));
  }

  const under: DriverUnderTest = {
    name: 'docker',
    module: new URL('../../../test-support/conformance/docker.ts', import.meta.url),
    options,
    timeFactor: 3,
    parallel: 3,
    can: { runtimeKilled: 'adopted', cpuTimeSeenInside: true, publishesUdp: true, tunnels: true },
    traces,
  };

  driverConformance(under, (suite) => {
    containersBehaviour(suite);
    imagesBehaviour(suite);
    tunnelsBehaviour(suite);
  });

  function containersBehaviour({ bench, subject }: Suite): void {
    test('its trial found nothing wrong', () => {
      assert.deepEqual(bench().driver.report.reasons, []);
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

    test('no credential of the Gateway is in anything that the engine reports', async () => {
      const { workload, gateway } = await containersOf(subject());
      const inspected = JSON.stringify(await gateway.inspect());
      assert.ok(
        !inspected.includes(subject().coreServiceCredential) && !inspected.includes(subject().gatewayCredential),
      );
      assert.ok(!JSON.stringify(await workload.inspect()).includes(subject().coreServiceCredential));
    });

    test('a Gateway that is killed comes back as the same, and its workload does not notice', async () => {
      const { gateway } = await containersOf(subject());
      await subject().run(() => {
        (globalThis as { mark?: string }).mark = 'still the same';
      });
      const before = (await gateway.inspect()).State.Pid;
      await gateway.kill({ signal: 'SIGKILL' });
      await until('the Gateway to be back', async () => {
        const { Pid, Running } = (await gateway.inspect()).State;
        return Running && Pid !== before;
      });
      assert.equal(await subject().run(() => (globalThis as { mark?: string }).mark), 'still the same');
      assert.deepEqual(await subject().run(({ gateway: ask }) => ask('/v1/services/apps')), {
        status: 200,
        text: 'core answered',
      });
      assert.equal(bench().core.seen.at(-1)?.authorization, `Bearer ${subject().coreServiceCredential}`);
    });

    /** What the Gateway's container of a workload is answered when it dials a port of this machine. */
    async function dial(started: Started, port: number, allow: 'public' | readonly string[]): Promise<string> {
      const { gateway } = await containersOf(started);
      const ask = `${JSON.stringify({ host: '127.0.0.1', port, allow })}\n`;
      const script = `const socket = require('node:net').connect(${JSON.stringify(`${insideContainer.coreFolder}/dial.sock`)});
        socket.write(${JSON.stringify(ask)});
        socket.pipe(process.stdout);`;
      const exec = await gateway.exec({ Cmd: [insideContainer.node, '-e', script], AttachStdout: true, Tty: true });
      let said = '';
      for await (const chunk of await exec.start({ Tty: true })) said += chunk;
      return said;
    }

    test('a Gateway dials through its Runtime what is allowed there, and nothing that it allows itself', async () => {
      const port = providerPort();
      const origin = options.privateOrigins ?? '';
      assert.match(await dial(subject(), port, [origin]), CONNECTED);
      assert.match(await dial(subject(), port, 'public'), BLOCKED);
      assert.match(await dial(subject(), port + 1, [`https://127.0.0.1:${port + 1}`]), BLOCKED);
    });

    test('an origin of one policy is reached by the Gateway of that installation alone, for as long as it says so', async () => {
      const model = createServer((socket) => socket.end('from the model server'));
      model.listen(0, '127.0.0.1');
      await once(model, 'listening');
      const port = (model.address() as AddressInfo).port;
      const origin = `http://127.0.0.1:${port}`;
      const using = await bench().start({ policy: { revision: 3, privateOrigins: [origin] } });
      try {
        assert.match(await dial(using, port, [origin]), CONNECTED);
        assert.match(await dial(subject(), port, [origin]), BLOCKED, 'another installation');
        assert.match(await dial(using, port + 1, [origin, `http://127.0.0.1:${port + 1}`]), BLOCKED, 'another port');
        assert.match(await dial(using, providerPort(), [options.privateOrigins ?? '']), CONNECTED, 'as every Gateway');
        // The operator changes the file of providers: the grants, and so the revision, stay.
        await using.instance.gateway.apply({ revision: 3 });
        assert.match(await dial(using, port, [origin]), BLOCKED);
        await using.instance.gateway.apply({ revision: 3, privateOrigins: [origin] });
        assert.match(await dial(using, port, [origin]), CONNECTED);
      } finally {
        await using.stop(0);
        model.close();
      }
    });
  }

  /** Its network is further in than the container's. */
  function tunnelsBehaviour(suite: Suite): void {
    const { bench } = suite;
    describe('a workload with a tunnel', { skip: noTunnel() ?? false }, () => {
      let subject: Started;
      let neighbour: Started;
      const network = { public: false, tunnel: true };
      before(async () => {
        [subject, neighbour] = await Promise.all([bench().start({ network }), bench().start({ network })]);
        await Promise.all([subject.listens(), neighbour.listens()]);
      });
      after(() => Promise.all([subject?.stop(0), neighbour?.stop(0)]));
      const withTunnel: Suite = { ...suite, subject: () => subject, neighbour: () => neighbour };
      networkBehaviour(withTunnel);
      udpBehaviour(withTunnel);

      test('the ports on which it listens are seen from outside', () => {
        assert.deepEqual(subject.instance.ports(), [subject.assignment.workload.port]);
      });
    });
  }

  function imagesBehaviour({ bench }: Suite): void {
    const image = {
      Env: ['PATH=/of/the/image', 'OF_THE_IMAGE=yes', 'PLATFORM_S3_ENDPOINT=http://evil'],
      Volumes: { '/data': {} },
    };

    /** Starts the archive as the backend of a package. */
    async function start(archive: Buffer, network: NetworkPolicy = { public: false, tunnel: false }): Promise<Started> {
      const files = { 'image.tar': archive };
      return bench().start({ workload: { runtime: 'oci', image: 'image.tar' }, files, network });
    }

    /** That it runs behind the same walls as every workload, and its image under a name of ours. */
    async function runsConfined(started: Started, name: RegExp): Promise<void> {
      await started.listens();
      const { gateway, uid, ...seen } = JSON.parse(await started.ask('/cgi-bin/seen'));
      assert.deepEqual(seen, { own: 'yes', stolen: '', path: '/of/the/image' });
      assert.match(gateway, /^http:/);
      assert.ok(uid >= 2_000_000);
      const [container] = await docker.listContainers({
        filters: { label: [`${labels.installation}=${started.assignment.installationId}`] },
      });
      assert.match(container?.Image ?? '', name);
      assert.deepEqual(
        container?.Mounts.filter(({ Type }) => Type === 'volume').map(({ Destination }) => Destination),
        ['/tmp'],
      );
      await started.stop(0);
    }

    const refuses = (starting: Promise<Started>, sentence: RegExp) =>
      assert.rejects(starting, (error: Error) => error.name === 'StartRefused' && sentence.test(error.message));

    test('an archive in the package runs behind the same walls, under a name of ours', {
      skip: imageMissing(),
    }, async () => {
      await runsConfined(await start(await imageArchive(image)), /^platform-app:[0-9a-f]{4}-[0-9a-f]{32}$/);
    });

    test('an image runs with a tunnel too, by a path or by a name that its own search path leads to', {
      skip: imageMissing() || (noTunnel() ?? false),
    }, async () => {
      const network = { public: false, tunnel: true };
      const name = /^platform-app:[0-9a-f]{4}-[0-9a-f]{32}$/;
      await runsConfined(await start(await imageArchive(image), network), name);
      const Env = [...image.Env.slice(1), 'PATH=/bin'];
      const server = ['-c', 'PATH=/of/the/image exec /bin/busybox httpd -f -p "$PORT" -h /srv'];
      const named = await imageArchive({ ...image, Env, Entrypoint: ['busybox', 'sh'], Cmd: server });
      await runsConfined(await start(named, network), name);
    });

    test('/tmp is writable and of its size, whatever the image has there, and goes with the container', {
      skip: imageMissing(),
    }, async () => {
      const before = (await docker.listVolumes()).Volumes?.length ?? 0;
      for (const temporaryMode of [0o755, 0o555, 0o700, 0]) {
        const started = await start(await imageArchive(image, { temporaryMode }));
        await started.listens();
        const [kept, size] = (await started.ask('/cgi-bin/keep')).split('\n');
        assert.deepEqual(
          [kept, Number(size) > 0 && Number(size) <= 64 * 1024],
          ['kept', true],
          temporaryMode.toString(8),
        );
        await started.stop(0);
      }
      assert.equal((await docker.listVolumes()).Volumes?.length ?? 0, before);
    });

    test('what does not match its digest, is a link, for other processors or not there is refused in one sentence', async () => {
      await refuses(start(await imageArchive(image, { spoil: 'layer' })), /does not match its digest/);
      await refuses(start(await imageArchive(image, { spoil: 'link' })), /contains a link/);
      await refuses(start(await imageArchive(image, { spoil: 'processor' })), /for s390x processors/);
      await refuses(start(await imageArchive(image, { spoil: 'compression' })), /another way than gzip/);
      await refuses(start(Buffer.from('no archive at all')), /not a readable archive|no usable/);
      const named = (name: string) => bench().start({ workload: { runtime: 'oci', image: name } });
      await refuses(named('registry.example/app:1'), /named like registry\.example\/name@sha256:…\.$/);
      const digest = `sha256:${'0'.repeat(64)}`;
      await refuses(
        named(`registry.example/app@${digest}`),
        /does not allow images from registry\.example\/app: its operator/,
      );
      await refuses(
        named(`127.0.0.1:1/strange/app@${digest}`),
        /does not allow images from 127\.0\.0\.1:1\/strange\/app/,
      );
      await assert.rejects(
        named(`${NOBODY}/app@${digest}`),
        (error: Error) => error.name === 'LaunchError' && /does not answer/.test(error.message),
      );
    });

    test('an image goes when no installation refers to it, not before, and none comes that the account may not take', {
      skip: imageMissing(),
    }, async () => {
      const ours = async () =>
        (await docker.listImages({ filters: { label: [`${labels.role}=app`] } })).flatMap(
          ({ RepoTags }) => RepoTags ?? [],
        );
      await bench().driver.keepOnly?.([]);
      assert.deepEqual(await ours(), []);
      const workload = { runtime: 'oci', image: 'image.tar' };
      const files = { 'image.tar': await imageArchive(image) };
      const refusal = new StartRefused('The account has used up its disk space.');
      const claims: number[] = [];
      const refused = bench().start({ workload, files, claimImage: () => Promise.reject(refusal) });
      await assert.rejects(refused, refusal);
      assert.deepEqual(await ours(), []);
      const started = await bench().start({ workload, files, claimImage: async (bytes) => void claims.push(bytes) });
      const [name] = await ours();
      assert.ok(name !== undefined);
      const used = await bench().driver.keepOnly?.([]);
      assert.deepEqual([used, await ours()], [undefined, [name]], 'a container uses it');
      await started.stop(0);
      await bench().driver.keepOnly?.([]);
      assert.deepEqual(await ours(), []);
      // Before it came, and as it stood in the engine.
      assert.equal(claims.length, 2);
      assert.equal(claims[0], claims[1]);
      assert.ok(Number(claims[0]) > 500 * 1_024, `${claims[0]} bytes for a busybox`);
    });

    test('an image of a registry that the operator allows runs alike, and once more without the registry', {
      skip: imageMissing() || registryMissing(),
    }, async () => {
      if (registry === undefined) throw new Error('There is no registry.');
      const content = await testImage(image);
      const installation = bench().installation({ runtime: 'oci', image: await registry.push('team/app', content) });
      const other = await registry.push('other/app', content);
      const name = /^platform-app:[0-9a-f]{4}-r[0-9a-f]{64}$/;
      await runsConfined(await bench().start({ installation }), name);
      await refuses(bench().start({ workload: { runtime: 'oci', image: other } }), /does not allow images from/);
      await registry.stop();
      await runsConfined(await bench().start({ installation }), name);
    });
  }
});
