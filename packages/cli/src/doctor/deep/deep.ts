// The deep part of `platform doctor`: what takes reading all of the platform's data on this machine.
import type { MemberKind } from '@platform/contract';
import type { PlatformConfig } from '@platform/core/config';
import { reasonOf } from '@platform/core/start';
import { step } from '../../terminal/terminal.ts';
import { type Finding, isPassing } from '../finding.ts';
import { clocks } from './clocks.ts';
import type { DeepCheck } from './deep-check.ts';
import { descriptors } from './descriptors.ts';
import { keyFiles } from './key-files.ts';
import { keyFit } from './key-fit.ts';
import { packages } from './packages.ts';
import { pages } from './pages.ts';
import { volumes } from './volumes.ts';

/** Before all else: who opens a data folder that nobody uses closes its files to other users, and they would seem right. */
export const BEFORE: readonly DeepCheck[] = [keyFiles];

/** After it, by what this machine joined as; `core` is a machine that did not. */
export const AFTER: Readonly<Record<MemberKind | 'core', readonly DeepCheck[]>> = {
  core: [keyFit, pages, packages, volumes, descriptors, clocks],
  node: [volumes, descriptors],
  ingress: [descriptors],
};

/** Looks at one thing after the other, showing on a terminal what goes on. */
export async function* deepFindings(config: PlatformConfig, checks: readonly DeepCheck[]): AsyncGenerator<Finding> {
  const said = new Set<string>();
  for (const { name, look } of checks)
    try {
      yield* await step(name, (show) => look(config, show), { worthSaying: Number.POSITIVE_INFINITY });
    } catch (error) {
      const why = reasonOf(error);
      const isSaid = said.has(why);
      said.add(why);
      const found = `not done: ${name.toLowerCase()}`;
      yield {
        check: 'deep',
        verdict: isPassing(error) ? 'warning' : 'bad',
        found: isSaid ? `${found}, for the same reason` : found,
        ...(isSaid ? {} : { cure: why }),
      };
    }
}
