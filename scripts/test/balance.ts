// `node scripts/test/balance.ts` divides what rotates into thirds that take about the same time, by the durations that are
// checked in: after many files were added or have changed. A file that gets another turn may then wait for up to five runs
// once, so let a run of everything follow (`npm test -- --all`).
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { checkoutAt } from './changed.ts';
import { CHECKED_IN, expectedSeconds, readDurations } from './durations.ts';
import {
  AS_NOBODY,
  chooseFiles,
  type Place,
  ROTATION,
  type Rotation,
  readRotation,
  rotates,
  THIRDS,
  type Third,
} from './rotation.ts';

/** The first test of it builds it, so those that guard it stay together. */
const BUILT_ONCE = 'sdk-rust';

export function balance(rotation: Rotation, secondsOf: (file: string) => number): Rotation {
  const sums = new Map<Third, number>(
    THIRDS.map((third) => [third, third === AS_NOBODY.third ? AS_NOBODY.seconds : 0]),
  );
  const least = () => THIRDS.reduce((one, other) => ((sums.get(other) ?? 0) < (sums.get(one) ?? 0) ? other : one));
  const rotating = Object.entries(rotation).filter(([, { third }]) => third !== 'every');
  const units = [
    ...Map.groupBy(rotating, ([file, place]) => (place.guards.includes(BUILT_ONCE) ? BUILT_ONCE : file)).values(),
  ]
    .map((files) => ({ files, seconds: files.reduce((sum, [file]) => sum + secondsOf(file), 0) }))
    .sort((one, other) => other.seconds - one.seconds);
  const moved = units.flatMap(({ files, seconds }) => {
    const third = least();
    sums.set(third, (sums.get(third) ?? 0) + seconds);
    return files.map(([file, place]): [string, Place] => [file, { ...place, third }]);
  });
  return { ...rotation, ...Object.fromEntries(moved) };
}

export function write(rotation: Rotation): string {
  const lines = Object.entries(rotation)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([file, { third, guards }]) => {
      const named = guards.map((guard) => JSON.stringify(guard)).join(', ');
      return `  ${JSON.stringify(file)}: { "third": ${JSON.stringify(third)}, "guards": [${named}] }`;
    });
  return `{\n${lines.join(',\n')}\n}\n`;
}

if (import.meta.main) {
  const known = readDurations(CHECKED_IN);
  const balanced = balance(readRotation(), (file) => expectedSeconds(file, known));
  writeFileSync(ROTATION, write(balanced));
  const { files } = checkoutAt(fileURLToPath(new URL('../../', import.meta.url)));
  const tests = files.filter((file) => file.endsWith('.test.ts'));
  for (const third of THIRDS) {
    const { chosen } = chooseFiles(tests, { rotation: balanced, third, changed: [] });
    const [turn, run] = [chosen.filter((file) => rotates(balanced, file)), chosen].map((some) =>
      some.reduce((sum, file) => sum + expectedSeconds(file, known), 0).toFixed(0),
    );
    process.stdout.write(`Third ${third}: ${turn} s of ${run} s, on two processors with nothing else to do\n`);
  }
}
