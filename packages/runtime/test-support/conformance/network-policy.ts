// The network of a workload follows the grants of its owner while it runs: tried with real packets, in an internet that
// none of them leaves. A driver's test file declares this inside `inInternet`. Virtual machines, which take long to
// boot where they are emulated, are tried alike by tests/system/microvm-network.test.ts, through the whole platform.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { until } from '../../../../tests/support/wait.ts';
import type { NetworkPolicy } from '../../src/drivers/driver.ts';
import { FORBIDDEN, NAME_SERVER, OWN, PUBLIC, visitors } from '../in-internet.ts';
import { makePlace } from '../place.ts';
import { type ConformanceBench, firstReport, openBench, type Started } from './bench.ts';
import { killDoomed, startDoomed } from './doomed-process.ts';
import type { DriverUnderTest } from './under-test.ts';

const TRAVELLER = readFileSync(new URL('../workloads/traveller.mjs', import.meta.url), 'utf8');
/** Connects in its very first line. */
const AT_ONCE = `
  import net from 'node:net';
  const socket = net.connect({ host: '${PUBLIC}', port: 7000 });
  const finish = (seen) => console.log(JSON.stringify({ seen }));
  socket.once('data', (data) => { finish(String(data).trim()); socket.destroy(); });
  socket.once('error', (error) => finish(error.code));
  setInterval(() => {}, 1000);
`;
/** Some engines give networks without a way out a default route, which leads to a refusal. */
const NO_WAY = /^E(NET|HOST)UNREACH$/;

/**
 * @param under With the option `dns`, which names a server of the internet that `inInternet` makes.
 * @param tunnel Whether the workloads have a network tunnel besides. Default: no.
 */
export function networkPolicyBehaviour(under: DriverUnderTest, tunnel = false): void {
  const shut: NetworkPolicy = { public: false, tunnel };
  const open: NetworkPolicy = { public: true, tunnel };
  describe(`driver ${under.name}, on an internet${tunnel ? ', with a tunnel' : ''}`, () => {
    let bench: ConformanceBench;
    let traveller: Started;
    before(async () => {
      bench = await openBench(under);
      traveller = await bench.start({ source: TRAVELLER, network: shut });
      await traveller.listens();
    });
    after(async () => {
      await traveller?.stop(0);
      await bench?.close();
      bench?.place.remove();
    });
    const ask = async <Answer = string>(path: string, whom = traveller): Promise<Answer> =>
      // Written by our own workload.
      JSON.parse(await whom.ask(path)) as Answer;
    const apply = (policy: NetworkPolicy) => traveller.instance.applyNetworkPolicy(policy);

    async function reachesNothing(whom = traveller): Promise<void> {
      const before = await visitors();
      // One after the other: kernels say only so often in a second that there is no way.
      for (const address of [PUBLIC, NAME_SERVER, OWN, ...FORBIDDEN])
        assert.match(await ask(`/tcp/${address}/7000`, whom), NO_WAY, address);
      assert.match(await ask(`/udp/${PUBLIC}/7000`, whom), NO_WAY);
      assert.notEqual(await ask('/dns/example.org', whom), PUBLIC);
      assert.deepEqual(await visitors(), before);
    }
    async function reachesTheInternet(whom = traveller): Promise<void> {
      assert.equal(await ask(`/tcp/${PUBLIC}/7000`, whom), `${PUBLIC} sees ${OWN}`);
      assert.equal(await ask(`/udp/${PUBLIC}/7000`, whom), 'answered ping');
      await until('it to know its name server', async () => (await ask('/dns/example.org', whom)) === PUBLIC);
    }

    test('without the grant no packet of a workload arrives anywhere', async () => {
      assert.deepEqual(traveller.instance.shortfalls(), []);
      assert.doesNotMatch(await ask('/resolver'), /nameserver/);
      await reachesNothing();
    });

    test('a grant opens publicly routable addresses and names to a workload that runs, and no other', async () => {
      await apply(open);
      assert.deepEqual(traveller.instance.shortfalls(), []);
      await reachesTheInternet();
      for (const address of [OWN, ...FORBIDDEN])
        for (const protocol of ['tcp', 'udp'])
          assert.match(await ask(`/${protocol}/${address}/7000`), /^E[A-Z]+$/, `${protocol} to ${address}`);
      const came = await visitors();
      assert.deepEqual(
        FORBIDDEN.filter((address) => came[address] !== undefined),
        [],
      );
      assert.doesNotMatch(await ask('/if6'), /eth/, 'no IPv6 inside');
      await apply(shut);
    });

    test('a revocation stops open connections at once, nothing passes after it, and a new grant opens new ones', async () => {
      await apply(open);
      assert.equal(await ask(`/hold/${PUBLIC}/7000`), 'held');
      const answers = async () => (await ask<{ answers: number }>('/held')).answers;
      const begun = await answers();
      await until('the connection to be busy', async () => (await answers()) > begun + 10);
      await apply(shut);
      const frozen = await answers();
      await reachesNothing();
      assert.equal(await answers(), frozen);
      await apply(open);
      await reachesTheInternet();
      await apply(shut);
    });

    test('a workload that is started with the grant has it in its first line', async () => {
      const started = await bench.start({ source: AT_ONCE, network: open });
      const { seen } = await firstReport<{ seen: string }>(started, bench.limit(20_000));
      assert.equal(seen, `${PUBLIC} sees ${OWN}`);
      await started.stop(0);
    });

    if (under.can.runtimeKilled === 'adopted') {
      test('the network of a workload that outlives its Runtime becomes what its owner wants by then', async (t) => {
        const place = makePlace();
        t.after(() => place.remove());
        const doomed = startDoomed(under, place, {
          sources: [`${TRAVELLER}\nconsole.log(JSON.stringify({ descriptors: [] }));`],
          network: open,
        });
        t.after(() => doomed.child.kill('SIGKILL'));
        const [{ installationId } = { installationId: 'none' }] = (await doomed.ready).workloads;
        await killDoomed(doomed.child);
        const next = await openBench(under, place);
        t.after(() => next.close());
        const survivor = (await next.driver.list()).find((one) => one.installationId === installationId);
        assert.ok(survivor !== undefined);
        const installation = next.known(installationId, { volume: true });
        const adopted = await next.adopt(survivor, { installation, source: TRAVELLER, network: shut });
        assert.ok(adopted !== undefined);
        await adopted.listens();
        await reachesNothing(adopted);
        await adopted.instance.applyNetworkPolicy(open);
        await reachesTheInternet(adopted);
        await adopted.stop(0);
      });
    }
  });
}
