// The disk space of an account over HTTP: what it takes, and what nodes count of it.
import type { DomainRoute } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { readAccountDisk } from './account-disk.ts';
import { claimImage } from './claim-image.ts';

export type DiskRoute = DomainRoute<'disk'>;

export function diskRoutes(context: CoreContext): HandlersOf<DiskRoute> {
  return {
    'node.image': async ({ caller, params, body: { bytes } }) => {
      await claimImage(context, { nodeId: caller.nodeId, installationId: params.id, bytes });
      return { status: 204 };
    },
    'disk.read': async ({ caller }) => ({ status: 200, body: await readAccountDisk(context, caller.accountKey) }),
  };
}
