// The Runtime is killed without warning while a workload runs: what the next one finds.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { until } from '../../../../tests/support/wait.ts';
import { makePlace, type Place } from '../place.ts';
import { descendants } from '../processes.ts';
import { openBench, SUBJECT } from './bench.ts';
import type { DoomedAbout, DoomedReport } from './doomed.ts';
import { killDoomed, startDoomed } from './doomed-process.ts';
import { lookAround } from './traces.ts';
import type { DriverUnderTest } from './under-test.ts';

export function runtimeKilledBehaviour(under: DriverUnderTest): void {
  const limit = (milliseconds: number) => milliseconds * (under.timeFactor ?? 1);

  if (under.can.runtimeKilled === 'ends') {
    test('when the Runtime is killed, all that ran ends, and what it was starting does not begin to run', async (t) => {
      const { place, ids, report } = await killed(t, {});
      assert.doesNotMatch(report.workloads[0]?.said.descriptors?.join(' ') ?? '', /left-open/);
      await nothingIsLeft(t, place, ids);
    });
  } else {
    test('workloads that outlive their Runtime notice nothing or are ended by the next, and what it was starting never runs', async (t) => {
      const source = `${SUBJECT}\nconsole.log(JSON.stringify({ begun: performance.timeOrigin }));`;
      const { place, ids, report } = await killed(t, { sources: [source, source] });
      const [wanted, unwanted] = report.workloads;
      assert.ok(wanted !== undefined && unwanted !== undefined);
      const next = await openBench(under, place);
      let open = true;
      t.after(() => open && next.close());
      const survivors = await next.driver.list();
      const survivorOf = (one: typeof wanted) =>
        survivors.find(({ installationId }) => installationId === one.installationId);
      const [survivor, other] = [survivorOf(wanted), survivorOf(unwanted)];
      assert.ok(survivor !== undefined && other !== undefined && survivors.length === 2);

      const installation = next.known(wanted.installationId, { volume: true });
      const adopted = await next.adopt(survivor, { installation });
      assert.ok(adopted !== undefined);
      await adopted.listens();
      assert.equal(await adopted.run(() => performance.timeOrigin), wanted.said.begun, 'it was started again');
      assert.equal(await adopted.run(({ gateway }) => gateway('/nothing').then(({ status }) => status)), 404);
      await adopted.run(({ fs }) => fs.writeFileSync(`${process.env.PLATFORM_VOLUME_DIR}/kept`, 'kept'));
      assert.ok(((await adopted.instance.stats()).memoryBytes ?? 1) > 0);

      await next.driver.destroy(other);
      await leftNoTrace(ids.filter((id) => id !== wanted.installationId));
      assert.equal(
        await adopted.run(() => performance.timeOrigin),
        wanted.said.begun,
        'the one that is wanted runs on',
      );
      await adopted.stop(0);
      await leftNoTrace(ids);

      const again = await next.start({ installation });
      await again.listens();
      const kept = await again.run(({ fs }) => fs.readFileSync(`${process.env.PLATFORM_VOLUME_DIR}/kept`, 'utf8'));
      assert.equal(kept, 'kept');
      await again.stop(0);
      await next.close();
      open = false;
      await nothingNames(place, [...ids, place.folder]);
    });
  }

  /** One Runtime that has been killed, in the middle of a start. */
  async function killed(
    t: TestContext,
    what: Pick<DoomedAbout, 'sources'>,
  ): Promise<{ place: Place; report: DoomedReport; ids: readonly string[] }> {
    const place = makePlace();
    t.after(() => place.remove());
    const { child, ready } = startDoomed(under, place, { ...what, last: 'begun' });
    t.after(() => child.kill('SIGKILL'));
    const report = await ready;
    const below = descendants(child.pid ?? 0);
    await killDoomed(child);
    await until('all of it to be gone', () => below.every((one) => !one.alive()), limit(20_000));
    return {
      place,
      report,
      ids: [...report.workloads.map(({ installationId }) => installationId), report.begun ?? ''],
    };
  }

  /** After the next Runtime has begun, which sweeps what the kernel keeps. */
  async function nothingIsLeft(t: TestContext, place: Place, ids: readonly string[]): Promise<void> {
    const bench = await openBench(under, place);
    let open = true;
    t.after(() => open && bench.close());
    await nothingNames(place, ids);
    await bench.close();
    open = false;
    await nothingNames(place, [...ids, place.folder]);
  }

  /** A container of another test that is just being started has a copy of the whole machine's mounts for a moment. */
  async function nothingNames(place: Place, words: readonly string[]): Promise<void> {
    const named = () => lookAround(place.folder, words).named;
    await until('nothing to be left', () => named().length === 0).catch(() => undefined);
    assert.deepEqual(named(), []);
    await leftNoTrace(words);
  }

  async function leftNoTrace(words: readonly string[]): Promise<void> {
    assert.deepEqual((await under.traces?.(words)) ?? [], []);
  }
}
