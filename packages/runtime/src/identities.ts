// As root: gives every installation a user id of its own, the same at each start, never one that another had.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomically } from './atomic-file.ts';

interface Allocations {
  readonly base: number;
  readonly next: number;
  readonly byInstallation: Readonly<Record<string, number>>;
}

const PREFERRED_BASE = 2_000_000;
/** For machines (some containers) where only the first 65,536 ids exist. */
const SMALL_BASE = 30_000;
const SMALL_LAST = 60_000;
const ROOM = 1_000_000;

export interface Identities {
  /** The user and group id of an installation; made and written down at the first question. */
  idOf(installationId: string): number;
}

/**
 * Opens the file of allocations. Ids are counted up and never given twice, because files of a removed installation
 * may still belong to the old one.
 * @param taken Ids that others have on this machine; no installation gets one of them from now on.
 * @param isNew Whether nothing on this machine can belong to one of these ids yet. Default: yes.
 * @throws Error when the file exists but cannot be understood, or is missing where files have owners: guessing would give
 *   one app the files of another.
 */
export function openIdentities(
  file: string,
  taken: ReadonlySet<number> = new Set(),
  isNew: () => boolean = () => true,
): Identities {
  const known = readAllocations(file);
  if (known === undefined && !isNew())
    throw new Error(
      'The file runtime/identities.json in the data folder is missing. Restore it from a backup: it says which user owns the files of which app.',
    );
  let allocations = known ?? { ...freshRange(), byInstallation: {} };
  return {
    idOf(installationId) {
      const known = allocations.byInstallation[installationId];
      if (known !== undefined) return known;
      let id = allocations.next;
      while (taken.has(id)) id += 1;
      if (allocations.base === SMALL_BASE && id > SMALL_LAST)
        throw new Error('This machine has no user ids left for further apps.');
      allocations = {
        ...allocations,
        next: id + 1,
        byInstallation: { ...allocations.byInstallation, [installationId]: id },
      };
      writeFileAtomically(file, `${JSON.stringify(allocations, null, 1)}\n`, 0o600);
      return id;
    },
  };
}

/** The ids of the users of this machine, and of the owner of the platform's own database, which may have no name. */
export function takenIds(dataDirectory: string): ReadonlySet<number> {
  const users = readFileSync('/etc/passwd', 'utf8').split('\n');
  const owner = statSync(join(dataDirectory, 'postgres', 'data'), { throwIfNoEntry: false })?.uid;
  return new Set([...users.map((line) => Number(line.split(':')[2] || 0)), ...(owner === undefined ? [] : [owner])]);
}

function freshRange(): { base: number; next: number } {
  const base = isMapped(PREFERRED_BASE + ROOM) ? PREFERRED_BASE : SMALL_BASE;
  return { base, next: base };
}

/** Whether a user id exists in the user namespace this process lives in. */
function isMapped(id: number): boolean {
  return readFileSync('/proc/self/uid_map', 'utf8')
    .trim()
    .split('\n')
    .some((line) => {
      const [inner, , count] = line.trim().split(/\s+/).map(Number);
      return inner !== undefined && count !== undefined && id >= inner && id < inner + count;
    });
}

function readAllocations(file: string): Allocations | undefined {
  if (!existsSync(file)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    value = undefined; // damaged, as is said below
  }
  if (!isAllocations(value)) {
    throw new Error(
      'The file runtime/identities.json in the data folder is damaged. Restore it from a backup: it says which user owns the files of which app.',
    );
  }
  return value;
}

function isAllocations(value: unknown): value is Allocations {
  if (typeof value !== 'object' || value === null) return false;
  if (!('base' in value) || !('next' in value) || !('byInstallation' in value)) return false;
  const { base, next, byInstallation } = value;
  if (
    typeof base !== 'number' ||
    typeof next !== 'number' ||
    typeof byInstallation !== 'object' ||
    byInstallation === null
  )
    return false;
  const ids = Object.values(byInstallation);
  return ids.every((id) => Number.isInteger(id) && id >= base && id < next) && new Set(ids).size === ids.length;
}
