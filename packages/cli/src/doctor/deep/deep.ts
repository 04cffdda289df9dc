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

/** By what this machine joined as; `null` is the machine of core. */
const CHECKS: Readonly<Record<MemberKind | 'core', readonly DeepCheck[]>> = {
  core: [keyFiles, keyFit, pages, packages, volumes, descriptors, clocks],
  node: [keyFiles, volumes],
  ingress: [keyFiles],
};

/** Looks at one thing after the other, showing on a terminal what goes on. */
export async function* deepFindings(config: PlatformConfig, kind: MemberKind | null): AsyncGenerator<Finding> {
  const said = new Set<string>();
  for (const { name, look } of CHECKS[kind ?? 'core'])
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
