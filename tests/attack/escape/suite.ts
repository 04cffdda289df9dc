// A hostile workload tries every way out of one driver; none may lead anywhere. controls.test.ts proves that each of
// them does lead somewhere where no wall stands.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  type ConformanceBench,
  openBench,
  type Started,
} from '../../../packages/runtime/test-support/conformance/bench.ts';
import type { DriverUnderTest } from '../../../packages/runtime/test-support/conformance/under-test.ts';
import { canMakePrograms } from './machine-code.ts';
import { execute, type Field, requestsThatReach, runWay } from './run-way.ts';
import { openSentinels, type Sentinels } from './targets.ts';
import type { Targets, Way } from './way.ts';
import { datagramWays } from './ways/datagrams.ts';
import { fileWays } from './ways/files.ts';
import { answerWays, gatewayWays, logWays } from './ways/gateway.ts';
import { networkWays } from './ways/network.ts';
import { privilegeWays } from './ways/privileges.ts';
import { processWays } from './ways/processes.ts';
import { socketWays } from './ways/sockets.ts';

export const ways: readonly Way[] = [
  ...fileWays,
  ...processWays,
  ...privilegeWays,
  ...networkWays,
  ...datagramWays,
  ...socketWays,
  ...gatewayWays,
  ...answerWays,
  ...logWays,
];

const SHARED_MEMORY_KEY = 0x70_6c_61_74;

export function escapeSuite(under: DriverUnderTest): void {
  describe(`a hostile workload in ${under.name}`, () => {
    let bench: ConformanceBench;
    let sentinels: Sentinels;
    let hostile: Started;
    let neighbour: Started;
    let field: Field;
    let noticed: ReadonlySet<string>;

    before(async () => {
      process.env.PLATFORM_CANARY = 'canary-of-the-host';
      bench = await openBench(under);
      const installation = bench.installation({ volume: true });
      sentinels = await openSentinels(bench.place.folder, bench.uid(installation));
      // Its Gateway stood, and that is all that its credential has to do with.
      const former = await bench.start({ installation });
      await former.stop(0);
      neighbour = await bench.start({ workload: { volume: true } });
      hostile = await bench.start({ installation });
      await Promise.all([hostile.listens(), neighbour.listens()]);
      const targets = await takeAim({ bench, sentinels, hostile, neighbour, former });
      field = {
        hostile,
        targets,
        core: bench.core.seen,
        gateway: { host: targets.gatewayHost, port: targets.gatewayPort },
        log: 'stored',
      };
      noticed = await requestsThatReach(ways, field);
    });
    after(async () => {
      await Promise.all([hostile?.stop(100), neighbour?.stop(100)]);
      await sentinels?.close();
      await bench?.close();
      bench?.place.remove();
      delete process.env.PLATFORM_CANARY;
    });

    test('has the means to attack: it runs programs of its own, and reaches its Gateway', async (t) => {
      assert.deepEqual((await hostile.run(({ gateway }) => gateway('/v1/services/apps'))).status, 200);
      if (!canMakePrograms) return t.skip('system calls are tried on x86-64 only');
      const output = await execute(hostile, [{ number: 39, arguments: [] }]);
      assert.ok((output?.results[0] ?? 0) > 0, 'getpid gives its process number');
    });

    for (const way of ways) {
      test(way.name, async (t) => {
        if (way.attempt.kind === 'calls' && !canMakePrograms) return t.skip('system calls are tried on x86-64 only');
        if (way.attempt.kind === 'request' && !noticed.has(way.name)) return;
        const { through, detail } = await runWay(way, field);
        if (through && way.kernelOnly === true && under.can.ownKernel === true) {
          t.diagnostic('it leads into the kernel of its own machine, and no further');
          assert.deepEqual(sentinels.harm(), []);
          return;
        }
        if (under.network?.tunnel === true && way.withTunnel !== undefined) return assert.match(detail, way.withTunnel);
        assert.equal(through || noticed.has(way.name), false, detail);
      });
    }

    test('leaves the host and its neighbour unharmed', async () => {
      assert.deepEqual(sentinels.harm(), []);
      assert.equal(
        await neighbour.run(({ fs }) => fs.readFileSync(`${process.env.PLATFORM_VOLUME_DIR}/own`, 'utf8')),
        'own',
      );
      assert.equal(await neighbour.run(({ fs }) => fs.existsSync('/dev/shm/way-out')), false);
      assert.equal(await hostile.run(() => 'still there'), 'still there');
    });
  });
}

interface Aim {
  readonly bench: ConformanceBench;
  readonly sentinels: Sentinels;
  readonly hostile: Started;
  readonly neighbour: Started;
  readonly former: Started;
}

/** Everything that the attempts must know, and what the neighbour puts where they look for it. */
async function takeAim({ bench, sentinels, hostile, neighbour, former }: Aim): Promise<Targets> {
  const neighbourAbstractName = `\0platform-neighbour-${process.pid}`;
  const there = await neighbour.run(async ({ fs, net, os, connect }, abstract) => {
    fs.writeFileSync(`${process.env.PLATFORM_VOLUME_DIR}/own`, 'own');
    fs.writeFileSync('/dev/shm/of-the-neighbour', 'x', { mode: 0o666 });
    const server = net.createServer((socket) => socket.end());
    await new Promise<void>((resolve) => server.listen(0, () => resolve()));
    const hidden = net.createServer((socket) => socket.end());
    await new Promise<void>((resolve) => hidden.listen(abstract, () => resolve()));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    return {
      port,
      // Its own loopback is another one than that of the attacker.
      addresses: Object.values(os.networkInterfaces()).flatMap((list) =>
        (list ?? []).map((one) => one.address.split('%')[0] ?? ''),
      ),
      reached: [await connect({ host: '127.0.0.1', port }), await connect({ path: abstract })],
    };
  }, neighbourAbstractName);
  assert.deepEqual(there.reached, ['connected', 'connected']);
  if (canMakePrograms) {
    // IPC_CREAT, readable and writable for everybody; found again by its key.
    const made = await execute(neighbour, [
      { number: 29, arguments: [SHARED_MEMORY_KEY, 4096, 0o1666] },
      { number: 29, arguments: [SHARED_MEMORY_KEY, 0, 0] },
    ]);
    assert.ok((made?.results[1] ?? -1) >= 0, 'the neighbour finds its own segment');
  }
  const own = await hostile.run(() => process.env.PLATFORM_API_URL ?? '');
  const gateway = new URL(own);
  const neighbourVolume = join(bench.place.folder, 'volumes', neighbour.assignment.installationId);
  writeFileSync(join(bench.place.folder, 'sentinel', 'marker'), 'x');
  return {
    ...sentinels.targets,
    dataFolder: bench.place.folder,
    neighbourVolume,
    corePort: bench.core.port,
    neighbourAddresses: there.addresses,
    neighbourPort: there.port,
    neighbourAbstractName,
    neighbourSharedMemoryKey: SHARED_MEMORY_KEY,
    gatewayHost: gateway.hostname,
    gatewayPort: Number(gateway.port),
    ownCredential: hostile.gatewayCredential,
    formerCredential: former.gatewayCredential,
    neighbourCredential: neighbour.gatewayCredential,
  };
}
