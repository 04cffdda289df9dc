// What a backend may use of its machine, in plain words: for reviews and for Settings.

import {
  type BackendResources,
  type ResourceName,
  resourcesBeyond,
  standardDiskMiB,
  standardResources,
} from '@platform/contract';
import { MiB } from '@platform/contract/sizes';
import type { IconName } from '../../design/icons.tsx';
import { count, duration, sizeText } from '../../design/words.ts';

export interface ResourceLine {
  readonly name: ResourceName;
  readonly icon: IconName;
  readonly text: string;
  /** What it was before, where that is less. */
  readonly before: string | null;
  /** Beyond what was granted before. */
  readonly more: boolean;
  /** More than an app gets that asks for nothing in particular. */
  readonly large: boolean;
}

const ICONS = {
  mode: 'clock',
  idleSeconds: 'clock',
  memoryMiB: 'memory',
  diskMiB: 'disk',
  cpus: 'processor',
  pids: 'windows',
} as const;
const LARGE_FROM: BackendResources = { ...standardResources, diskMiB: standardDiskMiB };

/**
 * One line for each, in the order in which they matter to a person. Processes are named only where they are many, and the
 * time that it stays awake only where that is long.
 *
 * @param before what was granted up to now; the lines that go beyond it say so
 */
export function resourceLines(resources: BackendResources, before: BackendResources | null = null): ResourceLine[] {
  const more = before === null ? [] : resourcesBeyond(before, resources);
  const large = resourcesBeyond(LARGE_FROM, resources);
  const shown = (['mode', 'idleSeconds', 'memoryMiB', 'diskMiB', 'cpus', 'pids'] as const).filter(
    (name) =>
      !(name === 'diskMiB' && resources.diskMiB === 0) &&
      ((name !== 'pids' && name !== 'idleSeconds') || [...more, ...large].includes(name)),
  );
  return shown.map((name) => ({
    name,
    icon: ICONS[name],
    text: wordsFor(name, resources),
    before: before !== null && before.memoryMiB > 0 && more.includes(name) ? formerly(name, before) : null,
    more: more.includes(name),
    large: large.includes(name),
  }));
}

/** What matters most of it, each in a few words. */
export function shortResources(resources: BackendResources): Pick<ResourceLine, 'name' | 'icon' | 'text' | 'large'>[] {
  const { mode, memoryMiB, diskMiB } = resources;
  const texts: Partial<Record<ResourceName, string>> = {
    mode: mode === 'always' ? 'Runs all the time' : 'Runs while used',
    memoryMiB: `${sizeText(memoryMiB * MiB)} of memory`,
    diskMiB: `${sizeText(diskMiB * MiB)} of disk`,
  };
  return resourceLines(resources).flatMap(({ name, icon, large }) => {
    const text = texts[name];
    return text === undefined ? [] : [{ name, icon, text, large }];
  });
}

function wordsFor(name: ResourceName, { mode, idleSeconds, memoryMiB, diskMiB, cpus, pids }: BackendResources): string {
  switch (name) {
    case 'mode':
      return mode === 'always' ? 'Runs all the time, even while you don’t use it' : 'Runs only while it is used';
    case 'idleSeconds':
      return `Stays awake for up to ${timeAwake(idleSeconds)} after you last used it`;
    case 'memoryMiB':
      return `Up to ${sizeText(memoryMiB * MiB)} of memory`;
    case 'diskMiB':
      return `Keeps up to ${sizeText(diskMiB * MiB)} of data on the server`;
    case 'cpus':
      return `Up to ${processors(cpus)}`;
    case 'pids':
      return `Up to ${pids} processes at a time`;
  }
}

function formerly(name: ResourceName, { idleSeconds, memoryMiB, diskMiB, cpus, pids }: BackendResources): string {
  switch (name) {
    case 'mode':
      return 'now only while it is used';
    case 'idleSeconds':
      return `now ${timeAwake(idleSeconds)}`;
    case 'memoryMiB':
      return `now ${sizeText(memoryMiB * MiB)}`;
    case 'diskMiB':
      return diskMiB === 0 ? 'now none' : `now ${sizeText(diskMiB * MiB)}`;
    case 'cpus':
      return `now ${processors(cpus)}`;
    case 'pids':
      return `now ${pids}`;
  }
}

/** Whole hours or days, or else minutes: a review understates nothing. */
function timeAwake(seconds: number): string {
  if (seconds < 60 || seconds % 3_600 === 0) return duration(seconds * 1_000);
  return count(Math.ceil(seconds / 60), 'minute');
}

/** `one processor`, `2 processors`, `50 % of one processor`. */
function processors(cpus: number): string {
  if (cpus === 1) return 'one processor';
  return cpus < 1 ? `${Math.round(cpus * 100)} % of one processor` : `${cpus} processors`;
}

/** Whether an app asks for nothing at all: no permission, and no more of the server than any backend gets. */
export function asksForNothing(permissions: readonly unknown[], resources: BackendResources | null): boolean {
  return permissions.length === 0 && (resources === null || resourcesBeyond(LARGE_FROM, resources).length === 0);
}
