// After its end nothing of a workload is left but its volume, however it ended.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../testing/wait.ts';
import { type ConformanceBench, openBench, type Started } from './bench.ts';
import { added, lookAround } from './traces.ts';
import type { DriverUnderTest } from './under-test.ts';

export function leftoversBehaviour(under: DriverUnderTest): void {
  let bench: ConformanceBench;
  before(async () => {
    bench = await openBench(under);
  });
  after(async () => {
    await bench?.close();
    bench?.place.remove();
  });

  test('a workload that has ended leaves no process, mount, group, socket, descriptor or file', async () => {
    const installation = bench.installation({ volume: true });
    const words = [installation.installationId];
    // Once before, so that what the driver makes for good is there.
    await (await bench.start({ installation })).stop(0);
    const clean = lookAround(bench.place.folder, words);
    const stopped = await bench.start({ installation });
    await stopped.listens();
    assert.ok(
      lookAround(bench.place.folder, words).children.length + (await outside()).length > 0,
      'the look finds what runs',
    );
    await stopped.stop();
    for (const how of ['crashed', 'killed', 'given up'] as const) await oneOf(how);
    const own = (files: readonly string[]) => files.filter((file) => !/^app-/.test(file));
    // What a driver keeps ready for the next start is made meanwhile: one quiet moment is enough.
    let now = lookAround(bench.place.folder, words);
    await until(
      'everything to be gone',
      async () => {
        now = lookAround(bench.place.folder, words);
        return (
          now.descriptors.length <= clean.descriptors.length &&
          now.named.length === 0 &&
          now.children.length <= clean.children.length
        );
      },
      bench.limit(20_000),
    ).catch(() => undefined);
    assert.deepEqual(now.named, []);
    assert.deepEqual(added(own(now.files), own(clean.files)), []);
    assert.deepEqual(added(own(clean.files), own(now.files)), [], 'what was there is there still');
    // As many as before: some are made anew meanwhile. Should there be more, only those are worth reading.
    const more = (what: 'children' | 'descriptors') =>
      now[what].length <= clean[what].length ? [] : added(now[what], clean[what]);
    assert.deepEqual(more('children'), []);
    assert.deepEqual(more('descriptors'), []);
    assert.deepEqual(await outside(), []);

    async function outside(): Promise<readonly string[]> {
      return (await under.traces?.(words)) ?? [];
    }
    async function oneOf(how: 'crashed' | 'killed' | 'given up'): Promise<void> {
      if (how === 'given up') {
        const abort = new AbortController();
        const given = bench.start({ installation, abort: abort.signal, onGateway: () => abort.abort() });
        await assert.rejects(given);
        return;
      }
      const source = how === 'crashed' ? { source: 'process.exit(1)' } : {};
      const started: Started = await bench.start({ installation, ...source });
      if (how === 'crashed') await started.ended();
      else {
        await started.listens();
        await started.stop(0);
      }
    }
  });
}
