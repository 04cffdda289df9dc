// What `platform doctor` says of the parts of a running platform.
import { runningParts } from '../local/instance.ts';
import { requireRunning } from '../local/require-running.ts';
import type { Finding } from './finding.ts';

type Place = Parameters<typeof requireRunning>[0];

/** Of the platform that runs on this data folder, if one does. */
export async function partFindings(config: Place): Promise<Finding[]> {
  const parts = runningParts(config.dataDirectory);
  if (parts.length === 0) return [];
  try {
    await requireRunning(config);
    const ended = parts.filter(({ pid }) => pid === null);
    if (ended.length > 0)
      return ended.map(({ name, lastExit }) => ({
        check: 'parts',
        verdict: 'bad',
        found: `${name} is being restarted. Last exit: ${lastExit ?? 'unknown'}`,
      }));
    return [{ check: 'parts', verdict: 'good', found: `${parts.map(({ name }) => name).join(', ')} run` }];
  } catch (error) {
    return [{ check: 'parts', verdict: 'bad', found: error instanceof Error ? error.message : String(error) }];
  }
}
