// `platform package`: a folder becomes a package.
import { mkdir } from 'node:fs/promises';
import * as path from 'node:path';
import { parseArgs } from 'node:util';
import { faultWords, type Manifest, plainLine, sizeText } from '@platform/contract';
import { buildSdk } from '@platform/sdk/build';
import { type Command, UsageError, understood } from '../command.ts';
import { misfits } from '../packaging/misfits.ts';
import { PackageProblem } from '../packaging/package-problem.ts';
import { type PackagePlan, planPackage } from '../packaging/plan-package.ts';
import { type WrittenPackage, writePackage } from '../packaging/write-package.ts';
import { complain, paint, say } from '../terminal/terminal.ts';
import { sayRating } from './rating.ts';

export const packageCommand: Command = {
  summary: 'build a package from a folder',
  usage: `Usage: ./platform package [folder] [-o <file>]

Checks manifest.json of this folder, or of the one named, says what of it does not fit together or opens nothing, and packs it with frontend/ and workload/ into <id>-<version>.tgz, or the file named with -o.
The SDK is added as frontend/platform-sdk.js and workload/platform-sdk.mjs unless files of that name exist. Packages are reproducible.`,
  async run(args) {
    const { folder, output } = readArguments(args);
    return reportingProblems(folder, async () => {
      const plan = await planPackage({ folder, sdk: await buildSdk() });
      const { id, version } = plan.manifest;
      const target = path.resolve(output ?? `${id}-${version}.tgz`);
      await mkdir(path.dirname(target), { recursive: true });
      describe(plan, await writePackage(plan, target));
      warnOfMisfits(plan.manifest);
    });
  },
};

function readArguments(args: readonly string[]): { folder: string; output: string | undefined } {
  const { values, positionals } = understood(() =>
    parseArgs({ args: [...args], allowPositionals: true, options: { output: { type: 'string', short: 'o' } } }),
  );
  const [folder = '.', ...rest] = positionals;
  if (rest.length > 0) throw new UsageError('Name one folder: ./platform package <folder>');
  return { folder, output: values.output };
}

/** Runs `work`; what is wrong with the folder becomes a list and exit code 1. */
export async function reportingProblems(folder: string, work: () => Promise<void>): Promise<number> {
  try {
    await work();
    return 0;
  } catch (error) {
    if (!(error instanceof PackageProblem)) throw error;
    complainOf(folder, error);
    return 1;
  }
}

export function complainOf(folder: string, { problems }: PackageProblem, what = 'is not a package'): void {
  complain(`${paint('red', 'platform:', process.stderr)} ${folder} ${what}:`);
  for (const problem of problems) complain(`  - ${plainLine(problem)}`);
}

/** What its author should look at; the package is one all the same. */
export function warnOfMisfits(manifest: Manifest): void {
  const found = misfits(manifest);
  if (found.length === 0) return;
  complain(`${paint('yellow', 'manifest.json:', process.stderr)} check ${found.length === 1 ? 'this' : 'these'}:`);
  for (const fault of found) complain(`  - ${plainLine(faultWords(fault))}.`);
}

function describe({ manifest, files, leftOut, litter }: PackagePlan, written: WrittenPackage): void {
  say(`${paint('bold', `${manifest.name} ${manifest.version}`)}  (${manifest.id})`);
  for (const part of ['frontend', 'workload'] as const) {
    const own = files.filter(({ name }) => name.startsWith(`${part}/`));
    if (own.length > 0) say(`  ${part.padEnd(9)} ${own.length} files, ${sizeText(sum(own.map(({ size }) => size)))}`);
  }
  if (leftOut.length > 0) say(paint('dim', `  left out  ${leftOut.map((name) => plainLine(name)).join(', ')}`));
  for (const name of litter) say(paint('dim', `  left out  ${plainLine(name)}: another program put it there`));
  say(`  package   ${written.path}, ${sizeText(written.size)}`);
  say(`  SHA-256   ${written.hash}`);
  sayRating(manifest);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
