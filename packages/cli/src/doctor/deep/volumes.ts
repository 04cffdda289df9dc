// Whether the volumes of apps on this machine are there, and their file systems whole.
import { existsSync } from 'node:fs';
import * as path from 'node:path';
import { examineSharedVolumes, examineVolumes, type VolumeState } from '@platform/runtime';
import type { Finding } from '../finding.ts';
import { counted, type DeepCheck, named } from './deep-check.ts';

const CHECK = 'volumes';

export const volumes: DeepCheck = {
  name: 'Checking volumes',
  async look({ dataDirectory, sharedVolumes }, show) {
    const own = path.join(dataDirectory, 'volumes');
    const found = await stateOf(examineVolumes(own), { where: own, show });
    if (sharedVolumes === null) return found;
    if (!existsSync(sharedVolumes)) return [...found, sharedMissing(sharedVolumes)];
    return [...found, ...(await stateOf(examineSharedVolumes(sharedVolumes), { where: sharedVolumes, show }))];
  },
};

function sharedMissing(folder: string): Finding {
  const cure = 'Mount it. PLATFORM_VOLUMES_SHARED names it.';
  return { check: CHECK, verdict: 'bad', found: `the folder of shared volumes, ${folder}, is missing`, cure };
}

interface Place {
  readonly where: string;
  show(howFar: string): void;
}

async function stateOf(states: AsyncIterable<VolumeState>, { where, show }: Place): Promise<Finding[]> {
  const seen: VolumeState[] = [];
  for await (const state of states) {
    seen.push(state);
    show(`${seen.length} done`);
  }
  const count = (wanted: VolumeState['state']) => seen.filter(({ state }) => state === wanted).length;
  const [whole, used] = [count('whole'), count('in use')];
  const parts = [
    ...(whole === 0 ? [] : [`${counted(whole, 'volume')} whole`]),
    ...(used === 0 ? [] : [`${used} in use, and checked when ${used === 1 ? 'its app is' : 'their apps are'} stopped`]),
  ];
  const faults = named(seen.flatMap((volume) => faultOf(volume, where)));
  return parts.length === 0 ? faults : [...faults, { check: CHECK, verdict: 'good', found: parts.join('; ') }];
}

function faultOf({ installationId, kind, state, found }: VolumeState, where: string): Finding[] {
  switch (state) {
    case 'whole':
    case 'in use':
      return [];
    case 'unchecked':
      return [{ check: CHECK, verdict: 'warning', found: `the volume ${installationId} was not checked: ${found}` }];
    case 'missing': {
      const cure = 'Mount its disk, or restore it from a backup. Its app says how to begin without its data.';
      return [{ check: CHECK, verdict: 'bad', found: `the volume ${installationId} in ${where} is missing`, cure }];
    }
    case 'damaged': {
      const cure =
        kind === 'image'
          ? 'Stop its app, copy the image, and repair it with e2fsck, or restore it from a backup.'
          : 'Look for what damages the disk, and restore the volume from a backup.';
      return [{ check: CHECK, verdict: 'bad', found: `the volume ${installationId} is damaged: ${found}`, cure }];
    }
  }
}
