// The Runtime is killed without warning while a workload runs: what the next one finds.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { makePlace, type Place } from '../../testing/place.ts';
import { descendants } from '../../testing/processes.ts';
import { until } from '../../testing/wait.ts';
import { openBench, SUBJECT } from './bench.ts';
import { type DoomedReport, killDoomed, startDoomed } from './doomed-process.ts';
import { lookAround } from './traces.ts';
import type { DriverUnderTest } from './under-test.ts';

export function runtimeKilledBehaviour(under: DriverUnderTest): void {
  const limit = (milliseconds: number) => milliseconds * (under.timeFactor ?? 1);

  test('when the Runtime is killed, the next one finds what the driver promises and nothing else', async (t) => {
    if (under.can.runtimeKilled !== 'ends') return t.skip('this driver hands its workloads to the next Runtime');
    const place = makePlace();
    t.after(() => place.remove());
    const { child, ready } = startDoomed(under, place, { mode: 'after' });
    t.after(() => child.kill('SIGKILL'));
    const report = await ready;
    assert.doesNotMatch(report.said.descriptors?.join(' ') ?? '', /left-open/);
    const below = descendants(child.pid ?? 0);
    assert.ok(below.length > 0);
    await killDoomed(child);
    await until('all of it to be gone', () => below.every((one) => !one.alive()), limit(20_000));
    await nothingIsLeft(t, place, [report.installationId]);
  });

  test('when the Runtime is killed during a start, the workload does not begin to run', async (t) => {
    const place = makePlace();
    t.after(() => place.remove());
    const { child, ready } = startDoomed(under, place, { mode: 'during' });
    t.after(() => child.kill('SIGKILL'));
    const { installationId } = await ready;
    const below = descendants(child.pid ?? 0);
    await killDoomed(child);
    await until('all of it to be gone', () => below.every((one) => !one.alive()), limit(20_000));
    await nothingIsLeft(t, place, [installationId]);
  });

  test('a workload that outlives its Runtime is taken over by the next one, and notices nothing', async (t) => {
    if (under.can.runtimeKilled !== 'adopted') return t.skip('its workloads end with the Runtime');
    const { place, report } = await outlived(t);
    const next = await openBench(under, place);
    t.after(() => next.close());
    const [survivor, ...others] = await next.driver.list();
    assert.ok(survivor !== undefined);
    assert.deepEqual([survivor.installationId, others], [report.installationId, []]);
    const installation = next.known(report.installationId, { volume: true });
    const adopted = await next.adopt(survivor, { installation });
    assert.ok(adopted !== undefined);
    await adopted.listens();
    assert.equal(await adopted.run(() => performance.timeOrigin), report.said.begun, 'it was started again');
    assert.equal(await adopted.run(({ gateway }) => gateway('/nothing').then(({ status }) => status)), 404);
    await adopted.run(({ fs }) => fs.writeFileSync(`${process.env.PLATFORM_VOLUME_DIR}/kept`, 'kept'));
    assert.ok(((await adopted.instance.stats()).memoryBytes ?? 1) > 0);
    await adopted.stop(0);
    assert.deepEqual((await under.traces?.([report.installationId])) ?? [], []);

    const again = await next.start({ installation });
    await again.listens();
    const kept = await again.run(({ fs }) => fs.readFileSync(`${process.env.PLATFORM_VOLUME_DIR}/kept`, 'utf8'));
    assert.equal(kept, 'kept');
    await again.stop(0);
  });

  test('a workload that outlives its Runtime and is not wanted any more is ended, with all that was made for it', async (t) => {
    if (under.can.runtimeKilled !== 'adopted') return t.skip('its workloads end with the Runtime');
    const { place, report } = await outlived(t);
    const next = await openBench(under, place);
    const survivors = await next.driver.list();
    assert.deepEqual(
      survivors.map(({ installationId }) => installationId),
      [report.installationId],
    );
    for (const survivor of survivors) await next.driver.destroy(survivor);
    await nothingIsLeft(t, place, [report.installationId]).finally(() => next.close());
  });

  /** One whose Runtime has been killed. */
  async function outlived(t: TestContext): Promise<{ place: Place; report: DoomedReport }> {
    const place = makePlace();
    t.after(() => place.remove());
    const source = `${SUBJECT}\nconsole.log(JSON.stringify({ begun: performance.timeOrigin }));`;
    const { child, ready } = startDoomed(under, place, { mode: 'after', source });
    t.after(() => child.kill('SIGKILL'));
    const report = await ready;
    await killDoomed(child);
    return { place, report };
  }

  /** After the next Runtime has begun, which sweeps what the kernel keeps. */
  async function nothingIsLeft(t: TestContext, place: Place, words: readonly string[]): Promise<void> {
    const bench = await openBench(under, place);
    let open = true;
    t.after(() => open && bench.close());
    await untilNothingNames(place, words);
    assert.deepEqual((await under.traces?.(words)) ?? [], []);
    await bench.close();
    open = false;
    await untilNothingNames(place, [...words, place.folder]);
  }

  /** A container of another test that is just being started has a copy of the whole machine's mounts for a moment. */
  async function untilNothingNames(place: Place, words: readonly string[]): Promise<void> {
    const named = () => lookAround(place.folder, words).named;
    await until('nothing to be left', () => named().length === 0, 5_000).catch(() => undefined);
    assert.deepEqual(named(), []);
  }
}
