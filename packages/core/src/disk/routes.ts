// The disk space of an account over HTTP.
import type { DomainRoute } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { readAccountDisk } from './account-disk.ts';

export type DiskRoute = DomainRoute<'disk'>;

export function diskRoutes(context: CoreContext): HandlersOf<DiskRoute> {
  return {
    'disk.read': async ({ caller }) => ({ status: 200, body: await readAccountDisk(context, caller.accountKey) }),
  };
}
