// Programs of this machine as files of a package, with every library that they load: sandboxes have few of their own.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { findProgram } from '../src/find-program.ts';

/** The programs that are not installed, as a reason to skip a test; false where all are. */
export function programsMissing(...names: readonly string[]): string | false {
  const missing = names.filter((name) => findProgram(name) === undefined);
  return missing.length === 0 ? false : `${missing.join(' and ')} missing`;
}

/** They run with `LD_LIBRARY_PATH` set to the folder of the package. */
export function programFiles(...names: readonly string[]): Record<string, Buffer> {
  const programs = names.map((name) => findProgram(name) ?? name);
  const libraries = execFileSync('ldd', programs, { encoding: 'utf8' }).matchAll(/=> (\/\S+)/g);
  const paths = [...programs, ...[...libraries].flatMap(([, path]) => path ?? [])];
  return Object.fromEntries(paths.map((path) => [basename(path), readFileSync(path)]));
}
