// The refusal of what an installation was not granted: says which grant, and who gives it where. One sentence for the
// person who owns the installation and for the author who reads the log.
import {
  type Grant,
  type InstallationId,
  missingGrantWords,
  type PermissionId,
  permissions,
  type RefusalError,
  refuse,
} from '@platform/contract';
import type pg from 'pg';
import { allows, resourcesOf } from '../grants/grant-coverage.ts';
import { findRequest } from './prepared-queries.ts';

/** What a caller lacks. */
export interface WantedGrant {
  readonly id: PermissionId;
  /** `null` if any resource would do. */
  readonly resource: string | null;
  /** What the app may not do, to follow its name; default: what the permission says. */
  readonly what?: string;
  /** Default `grant_missing`. */
  readonly code?: 'grant_missing' | 'not_authorized';
}

/** Names only the installation itself and what its own manifest requests. */
export async function missingGrant(
  pool: pg.Pool,
  { installationId, appId }: { readonly installationId: InstallationId; readonly appId: string },
  { id, resource, what = permissions[id].plain, code = 'grant_missing' }: WantedGrant,
): Promise<RefusalError> {
  const found = await findRequest(pool, installationId);
  const isRequested = found === undefined || covers(found.requested, id, resource);
  return refuse(code, missingGrantWords({ name: found?.name ?? appId, id, what, isRequested }));
}

function covers(requested: readonly Grant[], id: PermissionId, resource: string | null): boolean {
  return resource === null ? resourcesOf(requested, id).length > 0 : allows(requested, id, resource);
}
