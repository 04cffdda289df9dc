// After its end nothing of a workload is left but its volume, however it ended: looked for after each of the endings.
import assert from 'node:assert/strict';
import { until } from '../../../../tests/support/wait.ts';
import type { ConformanceBench } from './bench.ts';
import { added, lookAround, type Standing } from './traces.ts';
import type { DriverUnderTest } from './under-test.ts';

export interface Leftovers {
  /** While one runs: that there is something to be left. */
  findsWhatRuns(): Promise<void>;
  /** After an end: no process, mount, group, socket, descriptor or file. */
  nothingLeft(): Promise<void>;
}

/** @param installationId the only one of this bench, which has run once, so that what the driver makes for good is there */
export function openLeftovers(under: DriverUnderTest, bench: ConformanceBench, installationId: string): Leftovers {
  const words = [installationId];
  const look = () => lookAround(bench.place.folder, words);
  const outside = async () => (await under.traces?.(words)) ?? [];
  const clean = look();

  return {
    async findsWhatRuns() {
      assert.ok(look().children.length + (await outside()).length > 0, 'the look finds what runs');
    },
    async nothingLeft() {
      // What a driver keeps ready for the next start is made meanwhile: one quiet moment is enough.
      let now = look();
      await until(
        'everything to be gone',
        () => {
          now = look();
          return isQuiet(now, clean);
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
    },
  };
}

function isQuiet(now: Standing, clean: Standing): boolean {
  return (
    now.descriptors.length <= clean.descriptors.length &&
    now.named.length === 0 &&
    now.children.length <= clean.children.length
  );
}

/** Packages are the bench's. */
function own(files: readonly string[]): string[] {
  return files.filter((file) => !/^app-/.test(file));
}
