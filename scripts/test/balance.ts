// `node scripts/test/balance.ts` divides what rotates into thirds that take about the same time, by the durations that are
// checked in: after many files were added or have changed. A file that gets another turn may then wait for up to five runs
// once, so let a run of everything follow (`npm test -- --all`).
import { writeFileSync } from 'node:fs';
import { CHECKED_IN, expectedSeconds, readDurations } from './durations.ts';
import { AS_NOBODY, type Place, ROTATION, type Rotation, readRotation, THIRDS, type Third } from './rotation.ts';

export function balance(rotation: Rotation, secondsOf: (file: string) => number): Rotation {
  const sums = new Map<Third, number>(
    THIRDS.map((third) => [third, third === AS_NOBODY.third ? AS_NOBODY.seconds : 0]),
  );
  const least = () => THIRDS.reduce((one, other) => ((sums.get(other) ?? 0) < (sums.get(one) ?? 0) ? other : one));
  const moved = Object.entries(rotation)
    .filter(([, { third }]) => third !== 'every')
    .map(([file, place]) => ({ file, place, seconds: secondsOf(file) }))
    .sort((one, other) => other.seconds - one.seconds)
    .map(({ file, place, seconds }): [string, Place] => {
      const third = least();
      sums.set(third, (sums.get(third) ?? 0) + seconds);
      return [file, { ...place, third }];
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
  const seconds = (wanted: Place['third']) =>
    Object.entries(balanced)
      .filter(([, { third }]) => third === wanted)
      .reduce((sum, [file]) => sum + expectedSeconds(file, known), 0)
      .toFixed(0);
  for (const third of THIRDS) process.stdout.write(`Third ${third}: ${seconds(third)} s on two processors\n`);
}
