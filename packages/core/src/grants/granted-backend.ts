// Whether an installation has a backend that may run, as a condition of statements: its version has one, and a review of
// its owner granted it. The same as `grantsBackend` of the contract.
import { sql } from 'kysely';

/** A version with a backend whose snapshot grants none: it came with an update that is not reviewed. */
export function unreviewedBackendText(installation = 'i', version = 'v'): string {
  return `(${version}.manifest ? 'workload' AND (${installation}.resources ->> 'memoryMiB')::integer IS NOT DISTINCT FROM 0)`;
}

/** For prepared statements, whose text is a string. @param installation alias of the row with `resources` */
export function grantedBackendText(installation = 'i', version = 'v'): string {
  return `(${version}.manifest ? 'workload' AND (${installation}.resources ->> 'memoryMiB')::integer IS DISTINCT FROM 0)`;
}

/** Of the installation `i` with version `v`. */
export const grantedBackend = sql.raw<boolean>(grantedBackendText());
