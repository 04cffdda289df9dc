// Whether the volumes of apps on this machine are there, and their file systems whole.
import * as path from 'node:path';
import { examineVolumes, type VolumeState } from '@platform/runtime';
import type { Finding } from '../finding.ts';
import { counted, type DeepCheck, named } from './deep-check.ts';

const CHECK = 'volumes';

export const volumes: DeepCheck = {
  name: 'Checking volumes',
  async look({ dataDirectory }, show) {
    const seen: VolumeState[] = [];
    for await (const state of examineVolumes(path.join(dataDirectory, 'volumes'))) {
      seen.push(state);
      show(`${seen.length} done`);
    }
    if (seen.length === 0) return [];
    const faults = seen.flatMap((volume) => faultOf(volume, path.join(dataDirectory, 'volumes.known')));
    const whole = seen.filter(({ state }) => state === 'whole').length;
    const used = seen.filter(({ state }) => state === 'in use').length;
    const isUsed =
      used === 0
        ? ''
        : `${whole === 0 ? '' : '; '}${used} in use, and checked when ${used === 1 ? 'its app is' : 'their apps are'} stopped`;
    const found = `${whole === 0 ? '' : `${counted(whole, 'volume')} whole`}${isUsed}`;
    return [...named(faults), ...(found === '' ? [] : [{ check: CHECK, verdict: 'good', found } as const])];
  },
};

function faultOf({ installationId, kind, state, found }: VolumeState, known: string): Finding[] {
  switch (state) {
    case 'whole':
    case 'in use':
      return [];
    case 'unchecked':
      return [{ check: CHECK, verdict: 'warning', found: `the volume ${installationId} was not checked: ${found}` }];
    case 'missing': {
      const cure = `Mount its disk, or restore it from a backup. To begin without its data, remove ${path.join(known, installationId)}.`;
      return [{ check: CHECK, verdict: 'bad', found: `the volume ${installationId} is missing`, cure }];
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
