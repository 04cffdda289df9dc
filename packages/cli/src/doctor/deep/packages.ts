// Whether the packages of apps, and what is unpacked of them, are what was published.
import { sizeText } from '@platform/contract';
import { examinePackages, type PackageFault } from '@platform/core/examine';
import { withLocalCore } from '../../local/local-core.ts';
import type { Finding } from '../finding.ts';
import { counted, type DeepCheck, named } from './deep-check.ts';

const CHECK = 'packages';

export const packages: DeepCheck = {
  name: 'Reading packages',
  async look(config, show) {
    const {
      packages: count,
      bytes,
      faults,
    } = await withLocalCore(config, (context) => examinePackages(context, (done) => show(`${done} done`)));
    if (faults.length > 0) return named(faults.map(findingOf));
    return [{ check: CHECK, verdict: 'good', found: `${counted(count, 'package')} (${sizeText(bytes)}) as published` }];
  },
};

function findingOf({ names, place, of, found }: PackageFault): Finding {
  const what = of === 'package' ? 'the package' : 'the unpacked frontend';
  const cure =
    of === 'package'
      ? 'Restore it from a backup, or have its publisher publish a new version. The next start restores apps of the platform itself.'
      : 'Restart the platform: core unpacks it again before it serves the app, if its package is whole.';
  return {
    check: CHECK,
    verdict: 'bad',
    found: `${what} of ${names.join(', ') || 'no version'} is ${found}: ${place}`,
    cure,
  };
}
