// Counts the image of a workload towards the disk space of its account, before the image takes any.
import type { Assignment } from '@platform/contract';
import { CoreError } from '@platform/link';
import type { CoreClient } from '../core-client.ts';
import { StartRefused, type WorkloadSpec } from '../drivers/driver.ts';

export function imageClaim(
  core: Pick<CoreClient, 'claimImage'>,
  { installationId }: Assignment,
): WorkloadSpec['claimImage'] {
  return async (bytes) => {
    try {
      await core.claimImage(installationId, bytes);
    } catch (error) {
      if (error instanceof CoreError && error.code === 'disk_quota')
        throw new StartRefused(error.detail ?? 'The account has used up its disk space.');
      throw error;
    }
  };
}
