// Keeps the data folder to its owner: what the platform makes there, and what an earlier version or a backup left open.
import * as fs from 'node:fs';
import * as path from 'node:path';

/**
 * Bits of group and others that a path below the data folder may have as root, where PostgreSQL and workloads run as
 * users of their own; the first that fits counts, and every path that none fits may have none. `inside: false` leaves
 * alone what lies below: it belongs to another user, or is what workloads are given.
 */
const openings: readonly {
  /** Of the path relative to the data folder; the folder itself is empty. */
  readonly at: RegExp;
  readonly bits: number;
  readonly inside: boolean;
  readonly why: string;
}[] = [
  { at: /^$/, bits: 0o011, inside: true, why: 'passed through by PostgreSQL and by the users of workloads' },
  { at: /^postgres$/, bits: 0o010, inside: true, why: 'passed through by the group of PostgreSQL’s user' },
  { at: /^postgres\/bin-[^/]+$/, bits: 0o055, inside: false, why: 'PostgreSQL’s programs, which its user runs' },
  { at: /^postgres\/(data|run|\.data-[^/]+)$/, bits: 0, inside: false, why: 'belongs to PostgreSQL’s user' },
  {
    at: /^(agents|volumes|workloads|runtime)$/,
    bits: 0o011,
    inside: true,
    why: 'passed through by the users of workloads',
  },
  { at: /^volumes\/[^/]+$/, bits: 0, inside: false, why: 'belongs to the user of one workload' },
  { at: /^workloads\/[^/]+$/, bits: 0o055, inside: false, why: 'a package, which the users of its workloads run' },
  { at: /^agents\/[^/]+$/, bits: 0o055, inside: false, why: 'the worker of agents, and what one was told' },
  { at: /^runtime\/[^/]+\.json$/, bits: 0, inside: true, why: '' },
  { at: /^runtime\/[^/]+$/, bits: 0o055, inside: false, why: 'given to every sandbox, and secret from nobody' },
  { at: /^microvm$/, bits: 0o011, inside: true, why: 'passed through by the users of virtual machines' },
  { at: /^microvm\/[^/]+$/, bits: 0o044, inside: false, why: 'an image, which the monitors of virtual machines read' },
];
const CLOSED = { bits: 0, inside: true };
/** As an ordinary user, whose workloads are that user as well. */
const OWN_USER_OPENINGS: typeof openings = [
  { at: /^volumes\/[^/]+$/, bits: 0, inside: false, why: 'what a workload keeps in its own volume is its own to say' },
];

/** What the user with this id leaves open. */
export function openingsOf(uid: number): typeof openings {
  return uid === 0 ? openings : OWN_USER_OPENINGS;
}

/** Paths looked at in one start; folders come before what is in them, so that no way in is among those left out. */
const MOST_PATHS = 50_000;

/** From now on this process, and every one that it starts, makes files that are its user's alone. */
export function keepToOwner(): void {
  process.umask(0o077);
}

/**
 * Takes from group and others what they must not have, of paths that are ours. Links are not followed, nor is anything
 * changed that has a further name elsewhere.
 */
export function closeFolder(folder: string): void {
  const uid = process.getuid?.() ?? 0;
  const rules = openingsOf(uid);
  const waiting = [''];
  for (let seen = 0; seen < waiting.length && seen < MOST_PATHS; seen += 1) {
    const relative = waiting[seen] ?? '';
    const place = path.join(folder, relative);
    const stat = fs.lstatSync(place, { throwIfNoEntry: false });
    if (stat === undefined || stat.uid !== uid || !(stat.isFile() || stat.isDirectory())) continue;
    if (stat.isFile() && stat.nlink > 1) continue;
    const { bits, inside } = rules.find(({ at }) => at.test(relative)) ?? CLOSED;
    const wanted = stat.mode & (0o7700 | bits);
    if (wanted !== (stat.mode & 0o7777)) changeMode(place, wanted);
    if (!stat.isDirectory() || !inside) continue;
    for (const name of fs.readdirSync(place)) waiting.push(path.join(relative, name));
  }
}

function changeMode(place: string, mode: number): void {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
  const descriptor = fs.openSync(place, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    fs.fchmodSync(descriptor, mode);
  } finally {
    fs.closeSync(descriptor);
  }
}
