// Whether the platform that runs is what lies on the disk.
import { runningRelease } from '../local/instance.ts';
import { readRelease, releaseText } from '../local/release.ts';
import type { Finding } from './finding.ts';

/** Of the platform that runs on this data folder, if one does. */
export function releaseFindings(dataDirectory: string): Finding[] {
  const running = runningRelease(dataDirectory);
  if (running === null) return [];
  const here = readRelease();
  const found = releaseText(running);
  if (running.mark === here.mark) return [{ check: 'release', verdict: 'good', found: `${found} runs` }];
  return [
    {
      ...{ check: 'release', verdict: 'warning' },
      found: `${found} runs, and the code here is another${releaseText(here) === found ? '' : `, ${releaseText(here)}`}`,
      cure: 'Start the platform again at a quiet time. If a part ended before, the platform would stop with it.',
    },
  ];
}
