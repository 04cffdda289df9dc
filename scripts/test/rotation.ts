// Which files an ordinary run leaves to one of the two runs after it. rotation.json has a line for each file that is slow
// and rarely broken: the third of the rotation that it belongs to, and what it guards; when that changes, it runs too.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { guards } from './territory.ts';

export const THIRDS = [1, 2, 3] as const;
export type Third = (typeof THIRDS)[number];

/** With this third, `.ci/run` tries again as an ordinary user what differs for one; the seconds that it takes longer for that. */
export const AS_NOBODY: { readonly third: Third; readonly seconds: number } = { third: 1, seconds: 70 };

export interface Place {
  /** `every`: runs each time. */
  readonly third: Third | 'every';
  /** Domains by name, and files or folders from the root of the checkout (territory.ts). */
  readonly guards: readonly string[];
}

/** From the root of the checkout. A file without a line runs each time. */
export type Rotation = Readonly<Record<string, Place>>;

export interface Choice {
  /** What runs, in the order of `files`. */
  readonly chosen: readonly string[];
  /** Those of them that belong to another third and guard what changed. */
  readonly guarding: readonly string[];
  readonly leftOut: readonly string[];
}

export const ROTATION = fileURLToPath(new URL('rotation.json', import.meta.url));

export function readRotation(): Rotation {
  return JSON.parse(readFileSync(ROTATION, 'utf8'));
}

/** Files that have to have a line: nothing beside the code of a domain says what they guard. */
export function needsPlace(file: string): boolean {
  return /^tests\/(?!structure\/|support\/)/.test(file);
}

export function rotates(rotation: Rotation, file: string): boolean {
  const third = rotation[file]?.third ?? 'every';
  return third !== 'every';
}

/**
 * @param third whose turn it is
 * @param changed what changed since the run before, from the root of the checkout
 */
export function chooseFiles(
  files: readonly string[],
  { rotation, third, changed }: { rotation: Rotation; third: Third; changed: readonly string[] },
): Choice {
  const sources = changed.filter((file) => !file.endsWith('.test.ts'));
  const hasTurn = (file: string) => !rotates(rotation, file) || rotation[file]?.third === third;
  const guarding = files.filter(
    (file) =>
      !hasTurn(file) &&
      (changed.includes(file) ||
        rotation[file]?.guards.some((guard) => sources.some((source) => guards(guard, source)))),
  );
  const chosen = files.filter((file) => hasTurn(file) || guarding.includes(file));
  return { chosen, guarding, leftOut: files.filter((file) => !chosen.includes(file)) };
}
