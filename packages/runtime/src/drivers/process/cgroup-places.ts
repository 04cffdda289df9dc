// Where on this machine control groups can be made: version 1, version 2, or both side by side (hybrid).
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

export type Controller = 'memory' | 'pids' | 'cpu';

export interface CgroupMount {
  readonly version: 1 | 2;
  /** Version 1: the controllers of this hierarchy. */
  readonly controllers: readonly string[];
  readonly mountPoint: string;
  /** The cgroup of this process below the mount point. */
  readonly own: string;
}

/** Version 1 hierarchies and the version 2 one that are mounted here, with this process's place in each. */
export function cgroupMounts(read: (path: string) => string = (path) => readFileSync(path, 'utf8')): CgroupMount[] {
  const memberships = read('/proc/self/cgroup')
    .split('\n')
    .flatMap((line) => {
      const match = /^\d+:([^:]*):(.*)$/.exec(line);
      return match === null
        ? []
        : [{ controllers: (match[1] ?? '').split(',').filter(Boolean), path: match[2] ?? '/' }];
    });
  return read('/proc/self/mountinfo')
    .split('\n')
    .flatMap((line): CgroupMount[] => {
      const [before, after] = line.split(' - ');
      const [, , , mountRoot, mountPoint] = (before ?? '').split(' ');
      const [type, , options] = (after ?? '').split(' ');
      if (mountRoot === undefined || mountPoint === undefined) return [];
      if (type !== 'cgroup' && type !== 'cgroup2') return [];
      const names = (options ?? '').split(',');
      const membership = memberships.find((entry) =>
        type === 'cgroup2' ? entry.controllers.length === 0 : entry.controllers.some((name) => names.includes(name)),
      );
      if (membership === undefined) return [];
      // Inside a container the mount shows only a part of the hierarchy; a membership outside of it is of no use.
      const below = relative(mountRoot, membership.path);
      if (below.startsWith('..') || membership.path.includes('/..')) return [];
      const own = join(mountPoint, below);
      return [
        {
          version: type === 'cgroup2' ? 2 : 1,
          controllers: type === 'cgroup2' ? [] : membership.controllers,
          mountPoint,
          own,
        },
      ];
    });
}

/** A cgroup and its ancestors up to the mount point, nearest first. */
export function ancestry(mount: CgroupMount): string[] {
  const places = [mount.own];
  for (let place = mount.own; place !== mount.mountPoint && place.length > mount.mountPoint.length; ) {
    place = dirname(place);
    places.push(place);
  }
  return places;
}
