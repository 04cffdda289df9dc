// Volumes that a failed test has left mounted would keep its folder from being removed, and what else it cleans up.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

export function unmountBelow(folder: string): void {
  const targets = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((target) => target.startsWith(`${folder}/`));
  for (const target of targets.reverse()) spawnSync('umount', ['--lazy', target]);
}
