// Limits memory, processes and processor time with control groups, and verifies that a sandbox has ended.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { MiB } from '@platform/contract/sizes';
import { ancestry, type CgroupMount, type Controller, cgroupMounts } from './cgroup-places.ts';
import { type CgroupUse, readCgroupUse } from './cgroup-use.ts';
import { socketBytes } from './socket-bytes.ts';

export interface Resources {
  readonly memoryMiB: number;
  /** Processors; 0.5 is half of one. */
  readonly cpus: number;
  readonly pids: number;
}

/** The cgroups of one sandbox, one folder in each hierarchy used. */
export interface Cgroup {
  /** Files into which a process writes `0` to enter. */
  readonly entrances: readonly string[];
  /** Times that the kernel killed something for want of memory. */
  memoryKills(): number;
  /** Times that the kernel refused it a process beyond its limit. */
  processRefusals(): number;
  /** What everything inside uses, as far as the kernel counts it here. */
  use(): CgroupUse;
  /** Kills whatever still runs inside and removes the folders. */
  remove(): Promise<void>;
}

export interface Cgroups {
  readonly version: 'v1' | 'v2' | 'hybrid' | 'none';
  readonly enforced: ReadonlySet<Controller>;
  /** Whether the kernel's buffers of connections are limited, as part of the memory or beside it. */
  readonly limitsSockets: boolean;
  /** Makes the cgroups of one sandbox. `key` is a plain name. */
  create(key: string, resources: Resources): Cgroup;
  /** Kills and removes what an earlier Runtime on the same data folder left behind. */
  removeStale(): Promise<void>;
  /**
   * Removes the Runtime's own folders, unless a sandbox (of another Runtime on the same data folder) is still in them.
   */
  close(): void;
}

interface Hierarchy {
  readonly version: 1 | 2;
  readonly controllers: readonly Controller[];
  /** Folder of this Runtime; each sandbox gets one below. */
  readonly base: string;
}

const CONTROLLERS: readonly Controller[] = ['memory', 'pids', 'cpu'];
const PERIOD_MICROSECONDS = 100_000;
/** Of version 1, where the kernel counts them apart, and only in groups that have a limit. */
const SOCKET_LIMIT = 'memory.kmem.tcp.limit_in_bytes';

/**
 * Finds out which limits can be enforced here and makes the Runtime's own folders.
 * @param name Plain name of the folder, the same for every Runtime on one data folder.
 */
export function openCgroups(name: string, mounts: readonly CgroupMount[] = readMounts()): Cgroups {
  const version1 = mounts
    .filter((mount) => mount.version === 1)
    .flatMap((mount): Hierarchy[] => {
      const controllers = CONTROLLERS.filter((controller) => mount.controllers.includes(controller));
      const base = join(mount.own, name);
      return controllers.length > 0 && canMake(base) ? [{ version: 1, controllers, base }] : [];
    });
  const version2 = mounts
    .filter((mount) => mount.version === 2)
    .flatMap((mount): Hierarchy[] => {
      const wanted = CONTROLLERS.filter(
        (controller) => !version1.some((other) => other.controllers.includes(controller)),
      );
      const place = version2Place(mount, name, wanted);
      return place === undefined ? [] : [place];
    });
  const hierarchies = [...version1, ...version2];
  return {
    version: cgroupVersion(mounts),
    enforced: new Set(hierarchies.flatMap((hierarchy) => hierarchy.controllers)),
    limitsSockets: hierarchies.some(
      ({ version, controllers, base }) =>
        controllers.includes('memory') && (version === 2 || existsSync(join(base, SOCKET_LIMIT))),
    ),
    create: (key, resources) => createCgroup(hierarchies, key, resources),
    removeStale: async () => {
      for (const { base } of hierarchies) {
        for (const entry of folders(base)) await removeFolder(join(base, entry));
      }
    },
    close: () => {
      for (const { base } of hierarchies) discard(base);
    },
  };
}

function readMounts(): CgroupMount[] {
  try {
    return cgroupMounts();
  } catch {
    return []; // a kernel without cgroups; the status says that nothing is enforced
  }
}

function cgroupVersion(mounts: readonly CgroupMount[]): Cgroups['version'] {
  const one = mounts.some((mount) => mount.version === 1);
  const two = mounts.some((mount) => mount.version === 2);
  if (one && two) return 'hybrid';
  if (one) return 'v1';
  return two ? 'v2' : 'none';
}

/**
 * A version 2 cgroup that holds processes cannot pass controllers on to children, so the nearest ancestor that
 * already does, or lets us, is taken. With no controller at all a folder is still of use: it can be killed as one.
 */
function version2Place(mount: CgroupMount, name: string, wanted: readonly Controller[]): Hierarchy | undefined {
  let best: Hierarchy | undefined;
  for (const parent of ancestry(mount)) {
    const base = join(parent, name);
    const existed = existsSync(base);
    if (!canMake(base)) continue;
    const controllers = enable(parent, wanted).filter((controller) => enable(base, [controller]).length > 0);
    if (best === undefined || controllers.length > best.controllers.length) {
      if (best !== undefined) discard(best.base);
      best = { version: 2, controllers, base };
    } else if (!existed) {
      discard(base);
    }
    if (best.controllers.length === wanted.length) break;
  }
  return best;
}

/** Turns controllers on for the children of a cgroup; returns those that are on. */
function enable(folder: string, controllers: readonly Controller[]): Controller[] {
  const control = join(folder, 'cgroup.subtree_control');
  for (const controller of controllers) {
    if (!readWords(control).includes(controller)) attempt(() => writeFileSync(control, `+${controller}`));
  }
  const on = readWords(control);
  return controllers.filter((controller) => on.includes(controller));
}

function createCgroup(hierarchies: readonly Hierarchy[], key: string, resources: Resources): Cgroup {
  const made = hierarchies.map((hierarchy) => {
    const folder = join(hierarchy.base, key);
    mkdirSync(folder, { recursive: true });
    for (const controller of hierarchy.controllers) limit(hierarchy.version, controller, folder, resources);
    return { ...hierarchy, folder };
  });
  const memory = made.find((one) => one.controllers.includes('memory'));
  const counter = memory && join(memory.folder, memory.version === 1 ? 'memory.oom_control' : 'memory.events');
  return {
    entrances: made.map((one) => join(one.folder, 'cgroup.procs')),
    memoryKills() {
      const count = counter && /^oom_kill (\d+)/m.exec(readIfThere(counter))?.[1];
      return Number(count ?? 0);
    },
    processRefusals() {
      const pids = made.find((one) => one.controllers.includes('pids'));
      const count = pids && /^max (\d+)/m.exec(readIfThere(join(pids.folder, 'pids.events')))?.[1];
      return Number(count ?? 0);
    },
    use: () => readCgroupUse(made),
    async remove() {
      for (const one of made) await removeFolder(one.folder);
    },
  };
}

function limit(version: 1 | 2, controller: Controller, folder: string, resources: Resources): void {
  const set = (file: string, value: string | number) => writeFileSync(join(folder, file), String(value));
  const bytes = resources.memoryMiB * MiB;
  const quota = Math.max(1000, Math.round(resources.cpus * PERIOD_MICROSECONDS));
  if (controller === 'pids') {
    set('pids.max', resources.pids);
  } else if (controller === 'cpu' && version === 1) {
    set('cpu.cfs_period_us', PERIOD_MICROSECONDS);
    set('cpu.cfs_quota_us', quota);
  } else if (controller === 'cpu') {
    set('cpu.max', `${quota} ${PERIOD_MICROSECONDS}`);
  } else if (version === 1) {
    set('memory.limit_in_bytes', bytes);
    // Swap is counted only where the kernel keeps that account; without it the limit above still holds for memory.
    attempt(() => set('memory.memsw.limit_in_bytes', bytes));
    if (existsSync(join(folder, SOCKET_LIMIT))) set(SOCKET_LIMIT, socketBytes(resources.memoryMiB));
  } else {
    set('memory.max', bytes);
    attempt(() => set('memory.swap.max', 0));
    attempt(() => set('memory.oom.group', 1));
  }
}

/** Kills everything inside until nothing is left, then removes the folder. Gives up after five seconds. */
async function removeFolder(folder: string): Promise<void> {
  for (const child of folders(folder)) await removeFolder(join(folder, child));
  const deadline = Date.now() + 5_000;
  for (;;) {
    if (!existsSync(folder)) return;
    attempt(() => writeFileSync(join(folder, 'cgroup.kill'), '1'));
    for (const pid of readWords(join(folder, 'cgroup.procs')).map(Number)) {
      if (pid > 1 && pid !== process.pid) attempt(() => process.kill(pid, 'SIGKILL'));
    }
    if (attempt(() => rmdirSync(folder))) return;
    if (Date.now() > deadline) throw new Error('A control group could not be removed: something in it does not end.');
    await delay(5);
  }
}

function folders(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name);
  } catch {
    return []; // it is gone, and all below it
  }
}

/**
 * Whether sandboxes can really be put below a folder, which is made if need be. Making folders is not enough: an
 * ordinary user may own a place that its processes may not be moved to.
 */
function canMake(folder: string): boolean {
  const existed = existsSync(folder);
  if (!existed && !attempt(() => mkdirSync(folder))) return false;
  const trial = join(folder, 'trial');
  const usable = attempt(() => mkdirSync(trial, { recursive: true })) && canEnter(trial);
  // The process that tried has ended, but the kernel may need a moment to notice.
  for (let tries = 0; existsSync(trial) && tries < 100 && !attempt(() => rmdirSync(trial)); tries += 1) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
  }
  if (!usable && !existed) discard(folder);
  return usable;
}

function canEnter(folder: string): boolean {
  const run = spawnSync('/bin/sh', ['-c', 'echo 0 > "$1"', 'sh', join(folder, 'cgroup.procs')], {
    stdio: 'ignore',
    env: {},
  });
  return run.status === 0;
}

function discard(folder: string): void {
  attempt(() => rmdirSync(folder));
}

/** Whether it could be done: what this machine allows is found out by trying, and the report says what it does not. */
function attempt(action: () => void): boolean {
  try {
    action();
    return true;
  } catch {
    return false;
  }
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // not on this kernel, or the group has ended
  }
}

function readWords(file: string): string[] {
  return readIfThere(file).split(/\s+/).filter(Boolean);
}
