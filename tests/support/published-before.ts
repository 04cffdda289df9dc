// Packages that a former version of the platform took and this one would refuse: they stay in the catalog, and their
// installations go on.
import { strict as assert } from 'node:assert';
import type { Grant } from '@platform/contract';
import type { Constellation } from './constellation.ts';

/** Makes the published versions of an app request these permissions, whatever publishing says of them now. */
export async function requestAsBefore(
  { core }: Pick<Constellation, 'core'>,
  appId: string,
  permissions: readonly Grant[],
): Promise<void> {
  const { rowCount } = await core.context.pool.query(
    "UPDATE app_versions SET manifest = jsonb_set(manifest, '{permissions}', $2::jsonb) WHERE app_id = $1",
    [appId, JSON.stringify(permissions)],
  );
  assert.ok(rowCount !== null && rowCount > 0, `${appId} is published`);
}
